// Numbers for people, as display/numbers.py writes them: never "100 %" for what is not certain.

export function percent(p) {
  if (p === 0 || p === 1) return `${100 * p} %`;
  const rounded = (100 * p).toFixed(2);
  if (Number(rounded) >= 100) return "> 99.99 %";
  if (Number(rounded) <= 0) return "< 0.01 %";
  return `${rounded} %`;
}

export function short(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-4 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
