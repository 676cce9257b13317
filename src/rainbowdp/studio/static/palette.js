// The colors of the answers: the library's own, which come with each world.

let colors = [];

export function paintWith(given) {
  colors = given;
}

export const color = (answer) => colors[answer % colors.length];

const dark = matchMedia("(prefers-color-scheme: dark)");
const known = new Map(); // by the theme and the name: asking the document takes a millisecond

/** What the theme says a custom property is, such as "--ink". */
export function themed(name) {
  const key = `${document.documentElement.dataset.theme} ${dark.matches} ${name}`;
  const value = known.get(key) ?? getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  if (value) known.set(key, value);
  return value;
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

function luminance(rgb) {
  const [red, green, blue] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The color of an answer's line: moved towards the ink until it stands out from the card. */
export function lineColor(answer) {
  const [card, ink] = ["--card", "--ink"].map((name) => channels(themed(name)));
  let rgb = channels(color(answer));
  const contrast = () => {
    const [low, high] = [luminance(rgb), luminance(card)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  for (let round = 0; round < 40 && contrast() < 2.2; round += 1) rgb = rgb.map((c, at) => c + 0.06 * (ink[at] - c));
  return `#${rgb.map((c) => Math.round(255 * c).toString(16).padStart(2, "0")).join("")}`;
}
