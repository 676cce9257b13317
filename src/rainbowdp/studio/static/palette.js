// Okabe and Ito's colors, which people with any kind of color vision can tell apart.

const COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#8C8C8C"];

export const color = (answer) => COLORS[answer % COLORS.length];

/** What the theme says a custom property is, such as "--ink". */
export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
