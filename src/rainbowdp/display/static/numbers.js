// Numbers for people, as display/numbers.py writes them: never "100 %" for what is not certain.

export function percent(p) {
  if (p === 0 || p === 1) return `${100 * p} %`;
  const rounded = (100 * p).toFixed(2);
  if (Number(rounded) >= 100) return "> 99.99 %";
  if (Number(rounded) <= 0) return "< 0.01 %";
  return `${rounded} %`;
}

/** The same for what is never certain: a float of 1 is then only the nearest that there is. */
export const uncertain = (p) => percent(Math.min(p, 1 - 2 ** -53));

export function short(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-4 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
