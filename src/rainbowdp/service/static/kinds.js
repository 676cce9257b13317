// The kinds of questions, in the words of people, and what each is made of.

const HAS_VALUES = (column) => column.answers === "any" || column.answers.length > 0;
const HAS_EDGES = (column) => column.bins === "any" || column.bins.length > 0;
const MATCHED = (column) => HAS_VALUES(column) || HAS_EDGES(column);

export const KINDS = {
  winner: {
    title: "Which answer is the most frequent?",
    fits: (column) => column.answers === "any" || column.answers.length > 1,
    parts: ["answers", "rest"],
  },
  ranking: {
    title: "Which are the most frequent, in order?",
    fits: (column) => column.answers === "any" || column.answers.length > 1,
    parts: ["among", "first", "rest"],
  },
  share: {
    title: "Do at least so many percent match?",
    fits: MATCHED,
    parts: ["percent", "matching"],
  },
  threshold: {
    title: "Do at least so many rows match?",
    fits: MATCHED,
    parts: ["at_least", "matching"],
  },
  count: { title: "How many rows match, about?", fits: MATCHED, parts: ["matching"] },
  quantile: { title: "In which range is the median?", fits: HAS_EDGES, parts: ["q", "bins"] },
  quantiles: { title: "In which ranges are several quantiles?", fits: HAS_EDGES, parts: ["qs", "bins"] },
  "proportion-test": {
    title: "Do significantly more than so many percent match?",
    fits: MATCHED,
    parts: ["above", "records", "matching"],
  },
  keys: { title: "Which values are there?", fits: (column) => column.keys, parts: [] },
};

/** The kinds whose rows may have weights. */
export const WEIGHED = new Set(["winner", "ranking", "share", "threshold", "quantile", "quantiles"]);

/** The kinds that can be asked of a dataset: allowed, and with a column that fits. */
export const kindsOf = (dataset) => Object.keys(KINDS).filter((kind) =>
  (!dataset.kinds || dataset.kinds.includes(kind)) && dataset.columns.some(KINDS[kind].fits));

export const columnsFor = (dataset, kind) => dataset.columns.filter(KINDS[kind].fits);
