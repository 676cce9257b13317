// Numbers for people: never "100 %" for what is not certain, never a bare 0 for what is not 0.

export function percent(p) {
  if (p === 0 || p === 1) return `${100 * p} %`;
  if (p > 0.9999) return "> 99.99 %";
  if (p < 0.0001) return `${(100 * p).toExponential(1)} %`;
  return `${(100 * p).toFixed(p < 0.01 || p > 0.99 ? 2 : 1)} %`;
}

export function short(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-4 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
