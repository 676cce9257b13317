// Release private answers from mechanism files, in a browser, on a phone or in Node.
//
// A mechanism file holds integers and what they promise. This module reads it, proves in integers
// that the promise is kept, and draws with crypto.getRandomValues. It has no dependencies and
// shares no code with rainbowdp, which made the file. The format is described in docs/format.md.
//
//   import { load } from "./rainbow-release.js";
//   const mechanism = load(await (await fetch("poll.json")).text());
//   mechanism.release({ red: 10, green: 7 });
//
// A file knows no budget: every release spends its guarantee once more.

export class Refused extends Error {
  constructor(message) {
    super(message);
    this.name = "Refused";
  }
}

const refuse = (message) => {
  throw new Refused(message);
};
const big = (value) => BigInt(value);
const sum = (values) => values.reduce((a, b) => a + b, 0n);
const max = (a, b) => (a > b ? a : b);
const min = (a, b) => (a < b ? a : b);
const ceil = (a, b) => -floor(-a, b);
const floor = (a, b) => (a % b !== 0n && a < 0n !== b < 0n ? a / b - 1n : a / b);
const bitLength = (n) => (n === 0n ? 0n : big(n.toString(2).length));
const range = (n) => Array.from({ length: n }, (_, i) => i);

// Reading: strict JSON, so that no two readers see different things in a file.

const MOST_DEPTH = 24;
const MOST_DIGITS = 310;
const MOST_SPELLED = 1200;
const MOST_TEXT = 1 << 29;

function parse(text) {
  if (typeof text !== "string" || text.length > MOST_TEXT) refuse("a mechanism file must be text");
  let at = 0;
  const fail = () => refuse(`a mechanism file must be JSON, but is not at character ${at}`);
  const token = /[\t\n\r ]*/y;
  const space = () => {
    token.lastIndex = at;
    token.exec(text);
    at = token.lastIndex;
  };
  const plain = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  const number = /-?(?:0|[1-9][0-9]*)/y;
  const string = () => {
    plain.lastIndex = at;
    const found = plain.exec(text);
    if (!found) fail();
    at = plain.lastIndex;
    const value = JSON.parse(found[0]);
    if (/[\ud800-\udfff]/.test(value) && !isWellFormed(value))
      refuse("a mechanism file must be Unicode, got half of a surrogate pair");
    return value;
  };
  const value = (depth) => {
    if (depth > MOST_DEPTH) refuse("a mechanism file must not be nested so deeply");
    space();
    const first = text[at];
    if (first === '"') return string();
    if (first === "{") {
      const found = Object.create(null);
      at += 1;
      space();
      if (text[at] === "}") return (at += 1), found;
      for (;;) {
        space();
        const key = string();
        if (key in found) refuse("a mechanism file must not have a key twice, but has");
        space();
        if (text[at] !== ":") fail();
        at += 1;
        found[key] = value(depth + 1);
        space();
        if (text[at] === "}") return (at += 1), found;
        if (text[at] !== ",") fail();
        at += 1;
      }
    }
    if (first === "[") {
      const found = [];
      at += 1;
      space();
      if (text[at] === "]") return (at += 1), found;
      for (;;) {
        found.push(value(depth + 1));
        space();
        if (text[at] === "]") return (at += 1), found;
        if (text[at] !== ",") fail();
        at += 1;
      }
    }
    for (const [word, meant] of [["true", true], ["false", false], ["null", null]])
      if (text.startsWith(word, at)) return (at += word.length), meant;
    number.lastIndex = at;
    const digits = number.exec(text);
    if (!digits) fail();
    at = number.lastIndex;
    if (/[.eE]/.test(text[at] ?? "")) refuse("a number in a mechanism file must be whole");
    const whole = digits[0].length > 17 ? NaN : Number(digits[0]);
    if (!Number.isSafeInteger(whole))
      refuse("a number above 2^53 must stand as text in a mechanism file");
    return Object.is(whole, -0) ? 0 : whole;
  };
  const content = value(1);
  space();
  if (at !== text.length) fail();
  if (!isObject(content)) refuse("a mechanism file must be a JSON object");
  const claimed = content.checksum;
  delete content.checksum;
  if (claimed !== sha256(new TextEncoder().encode(canonical(content))))
    refuse("the mechanism file does not match its checksum: it was changed or damaged");
  return content;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function isWellFormed(text) {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort(byCodePoint);
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function byCodePoint(one, other) {
  const [a, b] = [[...one], [...other]];
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (a[i] !== b[i]) return a[i].codePointAt(0) - b[i].codePointAt(0);
  return a.length - b.length;
}

// FIPS 180-4. Web Crypto has it only in secure contexts and only asynchronously.
function sha256(bytes) {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const rootBits = (n, root) => {
    const bits = 32n * big(root);
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** big(root) <= big(n) << bits) low = middle;
      else high = middle;
    }
    return Number(low & 0xffffffffn);
  };
  const constants = primes.map((n) => rootBits(n, 3));
  let state = primes.slice(0, 8).map((n) => rootBits(n, 2));
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [x, y] = [words[i - 15], words[i - 2]];
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    state = [a, b, c, d, e, f, g, h].map((x, i) => (x + state[i]) | 0);
  }
  return state.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

function keys(content, what, ...wanted) {
  const found = isObject(content) ? Object.keys(content) : null;
  if (!found || found.length !== wanted.length || !wanted.every((key) => found.includes(key)))
    refuse(`${what} must have the keys ${wanted.join(", ")}, got others`);
  return content;
}

const isDigits = (text, most) =>
  typeof text === "string" && text.length <= most && /^(?:0|[1-9][0-9]*)$/.test(text);

function weight(value) {
  if (!isDigits(value, MOST_DIGITS))
    refuse("a weight must be the decimal digits of a whole number from 0, as text");
  return big(value);
}

function listed(value, what) {
  if (!Array.isArray(value)) refuse(`${what} must stand in a list`);
  return value;
}

function weights(value, most = 1 << 18) {
  if (listed(value, "weights").length > most + 1)
    refuse(`weights must be at most ${most} here, got ${value.length}`);
  return value.map(weight);
}

function small(value, what, least = 0) {
  if (!Number.isSafeInteger(value) || value < least)
    refuse(`${what} must be a whole number from ${least}`);
  return value;
}

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a;
};
const reduced = (top, bottom) => {
  const common = gcd(top < 0n ? -top : top, bottom);
  return { top: top / common, bottom: bottom / common };
};
const times = (a, b) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
const minus = (a, b) => ({ top: a.top * b.bottom - b.top * a.bottom, bottom: a.bottom * b.bottom });
const plus = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
const whole = (n) => ({ top: big(n), bottom: 1n });
const above = (a, b) => a.top * b.bottom > b.top * a.bottom;
const ONE = whole(1);
const NONE = whole(0);

function fraction(value, what) {
  const parts = typeof value === "string" ? value.split("/") : [];
  if ((parts.length === 1 || parts.length === 2) && parts.every((p) => isDigits(p, MOST_SPELLED))) {
    const [top, bottom] = [big(parts[0]), parts.length === 2 ? big(parts[1]) : 1n];
    if (gcd(top, bottom) === 1n && (parts.length === 1 || bottom > 1n)) return { top, bottom };
  }
  return refuse(`${what} must be a number from 0 as text, in lowest terms, such as 1/3`);
}

function name(value) {
  if (Array.isArray(value)) return value.map(name);
  if (typeof value === "string" || Number.isSafeInteger(value)) return value;
  return refuse("answers and regions must be named by text, whole numbers or lists of these");
}

const same = (one, other) => canonical(one) === canonical(other);

// Bounds of e^x and of the normal distribution: x stands as the integer x·2^bits.

function expBelow(x, bits = 192n) {
  const halvings = bitLength(x.top / x.bottom) + 8n;
  const fine = bits + 2n * halvings;
  const scale = 1n << fine;
  const bottom = x.bottom << halvings;
  let [term, total, place] = [scale, scale, 0n];
  while (term) {
    place += 1n;
    term = (term * x.top) / (bottom * place);
    total += term;
  }
  for (let i = 0n; i < halvings; i++) total = (total * total) >> fine;
  return { top: total, bottom: scale };
}

function expBetween(x, bits) {
  const halvings = bitLength(x >> bits) + 8n;
  const fine = bits + 2n * halvings + 2n * (x >> bits);
  const step = x << (fine - bits - halvings);
  let [term, low, place] = [1n << fine, 1n << fine, 0n];
  while (term) {
    place += 1n;
    term = ((term * step) >> fine) / place;
    low += term;
  }
  let high = low + 2n * place + 8n;
  for (let i = 0n; i < halvings; i++)
    [low, high] = [(low * low) >> fine, ((high * high) >> fine) + 1n];
  return [low >> (fine - bits), (high >> (fine - bits)) + 1n];
}

function logBetween(ratio, bits) {
  const aim = ratio.top << bits;
  let [low, high] = [0n, (bitLength(ratio.top) - bitLength(ratio.bottom) + 2n) << bits];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    const [least, most] = expBetween(middle, bits);
    if (most * ratio.bottom <= aim) low = middle;
    else if (least * ratio.bottom >= aim) high = middle;
    else return [middle - 4n, middle + 4n];
  }
  return [low, high];
}

function isqrt(n) {
  if (n < 2n) return n;
  let x = 1n << ((bitLength(n) + 1n) >> 1n);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

const rootBetween = (x, bits) => {
  const low = isqrt((x.top << (2n * bits)) / x.bottom);
  return [low, low + 1n];
};

const circles = new Map();
function rootOfCircle(bits) {
  if (!circles.has(bits)) {
    const fine = bits + 32n;
    let pi = 0n;
    for (const [factor, inverse] of [[16n, 5n], [-4n, 239n]]) {
      let [power, place, sign] = [(1n << fine) / inverse, 1n, 1n];
      while (power) {
        pi += factor * sign * (power / place);
        [power, place, sign] = [power / (inverse * inverse), place + 2n, -sign];
      }
    }
    const off = 64n * fine;
    const low = isqrt((pi - off) << (fine + 1n));
    const high = isqrt((pi + off) << (fine + 1n)) + 1n;
    circles.set(bits, [low >> 32n, (high >> 32n) + 1n]);
  }
  return circles.get(bits);
}

function normalBetween(x, bits) {
  if (x < 0n) {
    const [low, high] = normalBetween(-x, bits);
    return [(1n << bits) - high, (1n << bits) - low];
  }
  const square = (x * x) >> bits;
  let [low, high, termLow, termHigh, odd] = [x, x, x, x, 1n];
  while (termHigh > 2n || odd << bits < 4n * square) {
    odd += 2n;
    termLow = ((termLow * square) >> bits) / odd;
    termHigh = ((termHigh * (square + 1n)) >> bits) / odd + 1n;
    low += termLow;
    high += termHigh;
  }
  high += 8n;
  const least = expBetween(square >> 1n, bits)[0];
  const most = expBetween((square >> 1n) + 1n, bits)[1];
  const [rootLow, rootHigh] = rootOfCircle(bits);
  const half = 1n << (bits - 1n);
  return [
    half + (low << (2n * bits)) / (most * rootHigh),
    half + (high << (2n * bits)) / (least * rootLow) + 1n,
  ];
}

function guessed(level) {
  const rest = minus(ONE, level);
  const near = above(level, rest) ? rest : level;
  const places = 64n + bitLength(near.bottom) - bitLength(near.top);
  let [low, high] = [-64n << 40n, 64n << 40n];
  while (high - low > 1n << 16n) {
    const middle = (low + high) >> 1n;
    const [least] = normalBetween(middle << (places - 40n), places);
    if (least * level.bottom < level.top << places) low = middle;
    else high = middle;
  }
  return (low + high) >> 1n;
}

// Newton's method proposes, normalBetween decides.
function quantileBetween(level, bits) {
  const aim = (level.top << bits) / level.bottom;
  let guess = guessed(level) << (bits - 40n);
  const root = rootOfCircle(bits)[0];
  for (let i = 0; i < 4; i++) {
    const [low, high] = normalBetween(guess, bits);
    const density = expBetween((guess * guess) >> (bits + 1n), bits)[0];
    guess -= ((((((low + high) >> 1n) - aim) * density) >> bits) * root) >> bits;
  }
  let [low, high, step] = [null, null, 16n];
  while (low === null || high === null) {
    if (low === null && normalBetween(guess - step, bits)[1] * level.bottom <= level.top << bits)
      low = guess - step;
    if (high === null && normalBetween(guess + step, bits)[0] * level.bottom >= level.top << bits)
      high = guess + step;
    step *= 16n;
    if (step >> (bits + 8n)) return [-(step << 8n), step << 8n];
  }
  return [low, high];
}

function grownBetween(level, mu, bits) {
  const [low, high] = quantileBetween(level, bits);
  return [normalBetween(low + mu[0], bits)[0], normalBetween(high + mu[1], bits)[1]];
}

function powerBetween(base, exponent, places) {
  let low = (base.top << places) / base.bottom;
  let high = low + 1n;
  let [least, most] = [1n << places, 1n << places];
  for (let left = exponent; left; left >>= 1n) {
    if (left & 1n) [least, most] = [(least * low) >> places, ((most * high) >> places) + 1n];
    [low, high] = [(low * low) >> places, ((high * high) >> places) + 1n];
  }
  return [least, most];
}

// Drawing.

// A global nearly everywhere; Node 18 has it in a module alone.
const randomness = globalThis.crypto ?? (await import("node:crypto")).webcrypto;

function randomBits(bits) {
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (let start = 0; start < bytes.length; start += 65536)
    randomness.getRandomValues(bytes.subarray(start, start + 65536));
  let found = 0n;
  for (const byte of bytes) found = (found << 8n) | big(byte);
  return found >> big(8 * bytes.length - bits);
}

// Uniform below a total: numbers of as many bits, until one is below it.
function randomBelow(total) {
  const bits = Number(bitLength(total));
  for (;;) {
    const drawn = randomBits(bits);
    if (drawn < total) return drawn;
  }
}

function placeIn(row) {
  let drawn = randomBelow(sum(row));
  return row.findIndex((held) => (drawn -= held) < 0n);
}

const oneOf = (places) => places[Number(randomBelow(big(places.length)))];

// Guarantees.

class Guarantee {
  constructor(content) {
    const kind = isObject(content) ? content.kind : null;
    this.kind = kind;
    this.delta = NONE;
    if (kind === "dp") {
      const byRatio = "ratio" in content;
      keys(content, "a guarantee", "kind", byRatio ? "ratio" : "epsilon", "delta");
      this.delta = fraction(content.delta, "delta");
      if (byRatio) {
        this.ratio = fraction(content.ratio, "ratio");
        if (above(ONE, this.ratio) || above(this.ratio, expBelow(whole(700))))
          refuse("the ratio of a guarantee must be from 1 to e^700");
      } else {
        this.epsilon = fraction(content.epsilon, "epsilon");
        if (above(this.epsilon, whole(700)))
          refuse("the epsilon of a guarantee must be at most 700");
        this.ratio = expBelow(this.epsilon);
      }
      if (above(this.delta, ONE)) refuse("the delta of a guarantee must be at most 1");
      this.lines = [[this.ratio, this.delta]];
    } else if (kind === "gaussian") {
      this.mu = fraction(keys(content, "a guarantee", "kind", "mu").mu, "mu");
      if (above(this.mu, whole(30))) refuse("the mu of a guarantee must be at most 30");
    } else if (kind === "zero-concentrated") {
      this.rho = fraction(keys(content, "a guarantee", "kind", "rho").rho, "rho");
      if (!this.rho.top || above(this.rho, whole(450)))
        refuse("the rho of a guarantee must be above 0 and at most 450");
    } else if (kind === "trade-off") {
      this.lines = steepLines(keys(content, "a guarantee", "kind", "knots").knots);
    } else {
      refuse("a guarantee must be of kind dp, gaussian, zero-concentrated or trade-off");
    }
  }

  pure(what) {
    if (this.kind !== "dp") refuse(`${what} must have an (ε,δ) guarantee, got another kind`);
    return this.ratio;
  }

  get squaredMu() {
    if (this.kind === "gaussian") return times(this.mu, this.mu);
    if (this.kind === "zero-concentrated") return times(whole(2), this.rho);
    return refuse("here a guarantee must be Gaussian or zero-concentrated");
  }

  mustBeClose(one, other, where) {
    if (!this.lines) return this.#mustBeUnderTheCurve(one, other, where);
    const total = sum(one);
    for (const [ratio, slack] of this.lines)
      for (const [p, q] of [[one, other], [other, one]]) {
        let over = 0n;
        for (let v = 0; v < p.length; v++) over += max(0n, ratio.bottom * p[v] - ratio.top * q[v]);
        if (over * slack.bottom > slack.top * ratio.bottom * total)
          refuse(`neighboring rows must be close, but not in ${where}`);
      }
  }

  #mustBeUnderTheCurve(one, other, where) {
    const pairs = one.map((a, v) => [a, other[v]]).filter(([a, b]) => a || b);
    pairs.sort(([a, b], [c, d]) => (a * (c + d) > c * (a + b) ? -1 : a * (c + d) < c * (a + b) ? 1 : 0));
    let [total, level, power] = [sum(one), 0n, 0n];
    for (const [a, b] of pairs) {
      level += b;
      power += a;
      if (power <= level) continue;
      if (level <= 0n || level >= total || !this.#allows(level, power, total))
        refuse(`neighboring rows must be close, but not in ${where}`);
    }
  }

  #allows(level, power, total) {
    for (const spare of [64n, 256n]) {
      const bits = bitLength(total) + spare;
      const mu = rootBetween(this.squaredMu, bits)[0];
      const low = quantileBetween({ top: level, bottom: total }, bits)[0];
      if (normalBetween(low + mu, bits)[0] * total >= power << bits) return true;
    }
    return false;
  }

  get rangeWithin() {
    if (this.kind === "dp") return this.ratio;
    const bits = 256n;
    if (this.kind === "gaussian") {
      const low = normalBetween((this.mu.top << bits) / (2n * this.mu.bottom), bits)[0];
      const rest = (1n << bits) - low;
      return { top: low * low, bottom: rest * rest };
    }
    if (this.kind === "zero-concentrated")
      return expBelow({ top: rootBetween(times(whole(8), this.rho), bits)[0], bottom: 1n << bits });
    return refuse("weights by scores must have an (ε,δ), Gaussian or ρ guarantee");
  }
}

function steepLines(knots) {
  if (listed(knots, "knots").length < 2 || knots.length > 4096)
    refuse("a trade-off curve must have from 2 to 4,096 knots");
  const points = knots.map((knot) => {
    if (!Array.isArray(knot) || knot.length !== 2) refuse("a knot must be a pair");
    return knot.map((end) => fraction(end, "a knot"));
  });
  const text = ([x, y]) => `${x.top}/${x.bottom},${y.top}/${y.bottom}`;
  const [x0, y0] = points[0];
  const curve = y0.top === y0.bottom ? points : points.slice(0, -1);
  const known = new Set(curve.map(text));
  const slopes = [];
  let good = x0.top === 0n && !above(y0, ONE) && text(points.at(-1)) === "1/1,0/1";
  for (let i = 0; i + 1 < points.length && good; i++) {
    const [[x, y], [x2, y2]] = [points[i], points[i + 1]];
    const [run, fall] = [minus(x2, x), minus(y, y2)];
    good = run.top > 0n && fall.top >= 0n;
    if (good) slopes.push(reduced(fall.top * run.bottom, fall.bottom * run.top));
  }
  good &&= slopes.every((slope, i) => !i || above(slopes[i - 1], slope));
  good &&= curve.every(([x, y]) => known.has(text([y, x])));
  if (!good) refuse("a trade-off curve must be convex, fall to (1, 0) and be its mirror image");
  return slopes
    .map((slope, i) => [slope, minus(minus(ONE, points[i][1]), times(slope, points[i][0]))])
    .filter(([slope]) => !above(ONE, slope))
    .map(([slope, slack]) => [slope, reduced(slack.top, slack.bottom)]);
}

// Questions: what one change is, and the margin of each answer.

const ON_A_GRAPH = "joined by an edge";
const AT_A_DISTANCE = "at a distance of ";

/** Whether these words say what neighbors are on a graph: by its edges, or by their lengths. */
function isOnAGraph(neighbors) {
  if (typeof neighbors !== "string") return false;
  const far = neighbors.startsWith(AT_A_DISTANCE) && neighbors.length > AT_A_DISTANCE.length;
  return neighbors === ON_A_GRAPH || far;
}

const SHARED = "kind column apply where neighbors person rows_per_person person_rule".split(" ");
const OWN = {
  winner: "answers other missing ties weight",
  threshold: "answers at_least equals minimum maximum weight",
  share: "answers at_least equals minimum maximum weight",
  quantile: "q bins closed_ends weight",
  quantiles: "qs bins closed_ends weight",
  ranking: "among first in_order other missing weight",
  custom: "name groups answers",
  count: "at_most equals minimum maximum",
};

class Question {
  constructor(content, answers) {
    const kind = isObject(content) && typeof content.kind === "string" ? content.kind : "";
    if (!Object.hasOwn(OWN, kind)) refuse(`a question must be one of ${Object.keys(OWN).join(", ")}`);
    this.content = keys(content, `a question of kind ${kind}`, ...SHARED, ...OWN[kind].split(" "));
    this.kind = kind;
    this.answers = answers;
    this.neighbors = content.neighbors;
    if (!["substituted", "added or removed"].includes(this.neighbors))
      refuse("neighbors must be 'substituted' or 'added or removed'");
    if (!["sample", "one vote"].includes(content.person_rule))
      refuse("person_rule must be 'sample' or 'one vote'");
    this.limit = big(small(content.rows_per_person, "rows_per_person", 1));
    this.scale = 1n;
    if ("weight" in content && content.weight !== null) {
      const given = keys(content.weight, "a weight", "column", "limit", "places");
      if (small(given.places, "places") > 6) refuse("a weight must have at most 6 places");
      this.scale = 10n ** big(given.places);
      const units = times(fraction(given.limit, "limit"), whole(this.scale));
      if (units.top % units.bottom || units.top <= 0n || units.top / units.bottom >= 1n << 53n)
        refuse("the limit of a weight must be a whole number of units");
      this.limit *= units.top / units.bottom;
    }
    if (kind === "count") return;
    if ("answers" in content && !same(content.answers, answers))
      refuse("the answers of a file must be those of its question, got others");
    if (!answers.every((answer) => typeof answer === "string"))
      refuse("the answers of a question must be texts");
    if (kind === "quantile" && listed(content.bins, "bins").length !== answers.length)
      refuse("a quantile must have a bin for each answer");
    if (["threshold", "share"].includes(kind) && answers.length !== 2)
      refuse("a threshold or a share must have two answers");
  }

  get substituted() {
    return this.neighbors === "substituted";
  }

  get ties() {
    if (!["first listed", "any leader"].includes(this.content.ties))
      refuse("ties must be 'first listed' or 'any leader'");
    return this.content.ties;
  }

  get groups() {
    if (this.kind === "threshold") return ["matching"];
    if (this.kind === "share") return ["matching", "others"];
    if (this.kind === "ranking") {
      const among = listed(this.content.among, "what is ranked");
      if (!among.every((one) => typeof one === "string")) refuse("what is ranked must be texts");
      return among;
    }
    if (["winner", "quantile"].includes(this.kind)) return this.answers;
    return refuse(
      `the counts of a ${this.kind} question are not understood here; give the margins of its ` +
        "answers instead",
    );
  }

  counted(counts) {
    const groups = this.groups;
    if (!isObject(counts) || Object.keys(counts).some((group) => !groups.includes(group)))
      refuse(`counts must be of ${groups.join(", ")}`);
    return groups.map((group) => (Object.hasOwn(counts, group) ? wholeOf(counts[group]) : 0n));
  }

  // The answers of a vote from the leader on, and how many records the others are behind; where
  // ties go to the first listed, one less for those listed before the leader.
  standing(given) {
    const counts = this.counted(given);
    const most = counts.reduce(max);
    const leader = counts.indexOf(most);
    const first = this.ties === "first listed";
    const size = counts.length;
    const order = first
      ? range(size).map((j) => (leader + j) % size)
      : [leader, ...range(size).filter((v) => v !== leader)];
    const gaps = order.slice(1).map((v) => most - counts[v] - (first && v < leader ? 1n : 0n));
    return [order, gaps];
  }

  margins(counts) {
    const held = this.counted(counts);
    const { content, kind } = this;
    let steps;
    if (kind === "winner" || (kind === "ranking" && content.first === 1))
      steps = marginsOfAVote(held, this.substituted);
    else if (kind === "threshold") {
      const least = content.at_least;
      const wanted = Number.isSafeInteger(least) ? whole(least) : fraction(least, "at_least");
      const missing = minus(times(wanted, whole(this.scale)), whole(held[0]));
      if (missing.top % missing.bottom) refuse("a threshold must be a whole number of units");
      const short = missing.top / missing.bottom;
      steps = [max(0n, short), max(0n, 1n - short)];
    } else if (kind === "share") {
      const { top: a, bottom: b } = fraction(content.at_least, "at_least");
      if (a <= 0n || a >= b) refuse("a share must be between 0 and 1");
      const step = this.substituted ? b : max(a, b - a);
      const over = (b - a) * held[0] - a * held[1];
      steps = over >= 0n ? [0n, over / step + 1n] : [-floor(over, step), 0n];
    } else if (kind === "quantile")
      steps = marginsOfAQuantile(fraction(content.q, "q"), held, this.substituted);
    else
      refuse(`the margins of a ${kind} question are not worked out here; give them instead`);
    return steps.map((step) => ceil(step, this.limit));
  }
}

function wholeOf(value) {
  const found = Number.isSafeInteger(value) ? big(value) : value;
  if (typeof found !== "bigint" || found < 0n)
    refuse("counts, margins and depths must be whole numbers from 0");
  return found;
}

function marginsOfAVote(counts, substituted) {
  const most = counts.reduce(max);
  const winner = counts.indexOf(most);
  return counts.map((own, v) => {
    if (v === winner) return 0n;
    const rivals = counts.map((n, i) => n + big(i < v)).filter((_, i) => i !== v);
    const over = (final) => sum(rivals.map((rival) => max(0n, rival - final)));
    if (substituted) {
      let [low, high] = [own, most + 1n];
      while (high - low > 1n) {
        const middle = (low + high) >> 1n;
        if (over(middle) <= middle - own) high = middle;
        else low = middle;
      }
      return high - own;
    }
    const first = v === 0 ? own : max(own, 1n);
    const finals = [first, ...rivals.filter((rival) => rival > first)];
    return finals.map((final) => final - own + over(final)).reduce(min);
  });
}

function marginsOfAQuantile({ top: p, bottom: d }, counts, substituted) {
  if (p <= 0n || p >= d) refuse("the q of a quantile must be between 0 and 1");
  const total = sum(counts);
  if (total === 0n) return counts.map((_, bin) => (bin ? 1n : 0n));
  const rank = ceil(p * total, d);
  const strong = max(p, d - p);
  let upto = 0n;
  const found = counts.map((own) => {
    const left = upto;
    upto += own;
    const first = own === 0n ? 1n : 0n;
    if (left < rank && rank <= upto) return 0n;
    if (substituted) return upto < rank ? rank - upto : left - rank + 1n;
    if (upto < rank) {
      const gap = p * (total - upto) - (d - p) * (upto + first);
      return first + ceil(max(0n, gap), strong);
    }
    const gap = (d - p) * left - p * (own + first + total - upto);
    return first + max(0n, floor(gap, strong) + 1n);
  });
  if (!substituted) found[0] = min(found[0], total);
  return found;
}

// Chances that fall with a distance: ⌊(top − C)·ratio^d⌋ + C of 2^127, C = ⌈1/(1 − ratio)⌉.

const BITS = 127;
const TOTAL = 1n << 127n;

class Falling {
  constructor(ratio, top = TOTAL) {
    if (ratio.top <= 0n || ratio.top >= ratio.bottom || (1n << 60n) % ratio.bottom)
      refuse("a ratio must be between 0 and 1 and a multiple of 2^-60");
    this.ratio = ratio;
    this.top = top;
    this.least = ceil(ratio.bottom, ratio.bottom - ratio.top);
    this.farthest = 89n * this.least;
    if (top < this.least || top > TOTAL) refuse("chances must fall from at most 2^127");
  }

  at(distance) {
    if (distance >= this.farthest) return this.least;
    const more = this.top - this.least;
    for (let places = 256n; ; places *= 2n) {
      const [low, high] = powerBetween(this.ratio, distance, places);
      if ((more * low) >> places === (more * high) >> places)
        return ((more * low) >> places) + this.least;
      if (distance * 60n <= places)
        return (more * this.ratio.top ** distance) / this.ratio.bottom ** distance + this.least;
    }
  }

  mustKeep(allowed, moves) {
    const places = 320n + bitLength(allowed.top / allowed.bottom);
    const [low] = powerBetween(this.ratio, moves, places);
    if (low * allowed.top < allowed.bottom << places)
      refuse("chances must keep the guarantee, but they fall too fast");
  }
}

// z_v · ∫ Π_{i≠v} (1 − t·z_i) dt, in units that all rows of so many answers share.
function rowOfCoins(chances) {
  const all = chances.reduce((product, _, i) => product * big(i + 1), 1n);
  return chances.map((own, v) => {
    let product = [1n];
    chances.forEach((other, i) => {
      if (i === v) return;
      const longer = [...product.map((part) => part * TOTAL), 0n];
      product.forEach((part, power) => (longer[power + 1] -= other * part));
      product = longer;
    });
    return own * sum(product.map((part, k) => (all / big(k + 1)) * part));
  });
}

// Kinds. Each proves itself when it is made; row(key) is exact, draw(key) is the place of an answer.

const MOST_COMPARED = 4_000_000;

class OneLadder {
  static own = ["ladder"];

  constructor(content, answers, question, guarantee) {
    const ladder = listed(content.ladder, "a ladder").map((row) => weights(row));
    if (!question || answers.length < 2 || !ladder.length || ladder.some((p) => p.length !== 2))
      refuse("one ladder for all answers must have a question with at least two");
    const others = big(answers.length - 1);
    const total = ladder[0][0] + others * ladder[0][1];
    if (total <= 0n || ladder.some(([a, b]) => a + others * b !== total))
      refuse("the pairs of a ladder must make rows of one positive total");
    for (let depth = 0; depth + 1 < ladder.length; depth++) {
      const [[a, b], [c, d]] = [ladder[depth], ladder[depth + 1]];
      guarantee.mustBeClose([a, others * b], [c, others * d], `the ladder at depth ${depth}`);
    }
    const [first, other] = ladder[0];
    const rest = (others - 1n) * other;
    guarantee.mustBeClose([first, other, rest], [other, first, rest], "two regions");
    Object.assign(this, { answers, ladder });
    this.proved = `${ladder.length} depths and every two answers`;
  }

  key(margins) {
    return truthAndDepth(this.answers, margins);
  }

  row(key) {
    const [label, depth] = regionAndDepth(key);
    if (depth === null || !this.answers.includes(label))
      refuse("a key must be an answer and a depth from 0");
    const [first, other] = this.ladder[Math.min(Number(depth), this.ladder.length - 1)];
    return this.answers.map((answer) => (answer === label ? first : other));
  }

  draw(key) {
    return placeIn(this.row(key));
  }
}

class Ladders {
  static own = ["regions", "touching"];

  constructor(content, answers, question, guarantee) {
    this.answers = answers;
    this.rows = new Map();
    this.certain = new Map();
    const names = answers.map(canonical);
    const labels = listed(content.regions, "regions").map((region) => {
      const given = keys(region, "a region", "label", "certain", "rows");
      const label = canonical(name(given.label));
      const rows = listed(given.rows, "the rows of a region").map((row) => weights(row));
      if (rows.length) this.rows.set(label, rows);
      if (given.certain !== null) {
        const place = names.indexOf(canonical(name(given.certain)));
        if (place < 0) refuse("a certain answer must be one of the answers");
        this.certain.set(label, place);
      }
      return label;
    });
    if (new Set(labels).size !== labels.length)
      refuse("regions must have different names, got one twice");
    const pairs = listed(content.touching, "touching pairs").map((pair) => {
      if (!Array.isArray(pair) || pair.length !== 2) refuse("a touching pair must be two numbers");
      const ends = pair.map((number) => labels[small(number, "the number of a region")]);
      if (pair[0] === pair[1] || !ends.every((label) => this.rows.has(label)))
        refuse("a touching pair must be two different regions that have rows");
      return ends;
    });
    const known = new Set(pairs.map((pair) => [...pair].sort().join("\n")));
    if (known.size !== pairs.length) refuse("touching regions must be listed once");
    const all = [...this.rows.values()].flat();
    this.total = all.length ? sum(all[0]) : 1n << 64n;
    if (this.total <= 0n || all.some((r) => r.length !== answers.length || sum(r) !== this.total))
      refuse("rows must have a weight for each answer and one positive total");
    const size = answers.length;
    if (pairs.length * size > Math.max(MOST_COMPARED, 16 * all.length * size))
      refuse("there are more touching regions than rows are compared for");
    if (question) {
      const whole = known.size >= (size * (size - 1)) / 2 && !this.certain.size;
      if (!whole || this.rows.size !== size || !names.every((label) => this.rows.has(label)))
        refuse("a question must have a region for each answer, every two touching");
    }
    let compared = pairs.length;
    for (const [label, ladder] of this.rows)
      for (let depth = 0; depth + 1 < ladder.length; depth++, compared++)
        guarantee.mustBeClose(ladder[depth], ladder[depth + 1], `region ${label} at ${depth}`);
    for (const [one, other] of pairs)
      guarantee.mustBeClose(this.rows.get(one)[0], this.rows.get(other)[0], `${one} and ${other}`);
    this.proved = `${compared} pairs of rows, ${pairs.length} of them of touching regions`;
  }

  key(margins) {
    return truthAndDepth(this.answers, margins);
  }

  row(key) {
    const [region, depth] = regionAndDepth(key);
    const label = canonical(region);
    if (depth === null && this.certain.has(label))
      return this.answers.map((_, place) => (place === this.certain.get(label) ? this.total : 0n));
    if (depth === null || !this.rows.has(label))
      refuse("a key must be a region of the mechanism and a depth from 0");
    const ladder = this.rows.get(label);
    return ladder[Math.min(Number(depth), ladder.length - 1)];
  }

  draw(key) {
    return placeIn(this.row(key));
  }
}

function regionAndDepth(key) {
  if (!Array.isArray(key) || key.length !== 2) refuse("a key must be a pair of region and depth");
  return [name(key[0]), key[1] === null ? null : wholeOf(key[1])];
}

function truthAndDepth(answers, margins) {
  const true_ = margins.indexOf(0n);
  return [answers[true_], margins.filter((_, v) => v !== true_).reduce(min) - 1n];
}

// Margins as {answer: margin} or a Map, in the order of the answers; exactly one is 0.
function marginsOf(key, answers) {
  const held = key instanceof Map ? key : isObject(key) ? new Map(Object.entries(key)) : null;
  const found = answers.map((answer) =>
    held && (held.has(answer) ? held.get(answer) : held.get(String(answer))),
  );
  if (!held || held.size !== answers.length || found.some((margin) => margin === undefined))
    refuse("a key must have a margin for each answer");
  const margins = found.map(wholeOf);
  if (margins.filter((margin) => !margin).length !== 1)
    refuse("margins must be 0 at the true answer only");
  return margins;
}

class Proximity {
  static own = ["total", "steps"];
  static mayHave = ["most"];

  constructor(content, answers, question, guarantee) {
    const ratio = guarantee.pure("proximity");
    const [total, steps] = [weight(content.total), weights(content.steps, 1 << 15)];
    this.most = "most" in content ? weight(content.most) : null;
    Object.assign(this, { answers, total, steps });
    const losers = big(answers.length - 1);
    if (losers < 1n || !steps.length || steps.length > 32768 || total <= 0n)
      refuse("proximity must have a loser, a total and at most 32,768 weights");
    const { top, bottom } = ratio;
    const slack = times(guarantee.delta, whole(total));
    const least = (value) => value * slack.bottom <= bottom * slack.top; // bottom·x ≤ bottom·D
    let widest = 0n;
    steps.forEach((here, t) => {
      const beyond = steps[Math.min(t + 1, steps.length - 1)];
      if (beyond > here) refuse("the weights of proximity must fall");
      if (!least((bottom * here - top * beyond) * losers))
        refuse("the weights of proximity fall too fast");
      widest = max(widest, max(top * here - bottom * beyond, (top - bottom) * here));
    });
    let rises = least(total * (bottom - top) + losers * widest);
    let crowd = losers * steps[0];
    if (this.most !== null) {
      if (question || this.most <= 0n || this.most >= total || slack.top)
        refuse("a bound of what others have is for graphs, without a delta");
      crowd = this.most;
      rises = this.most * (top * top - bottom * bottom) <= total * (top * top - top * bottom);
    }
    if (!rises) refuse("the true answer of proximity rises too fast");
    if (!least(bottom * total - (bottom + top) * steps[0]) || bottom * steps[0] > top * (total - crowd))
      refuse("a border of proximity is too steep");
    this.proved = `${steps.length} weights by margin`;
  }

  key(margins) {
    return new Map(this.answers.map((answer, v) => [answer, margins[v]]));
  }

  row(key) {
    const margins = marginsOf(key, this.answers);
    const last = big(this.steps.length);
    const row = margins.map((m) => (m ? this.steps[Number(min(m, last)) - 1] : 0n));
    const others = sum(row);
    if (this.most !== null && others > this.most)
      refuse("margins that give the others more than the file allows have no row");
    row[margins.indexOf(0n)] = this.total - others;
    return row;
  }

  draw(key) {
    return placeIn(this.row(key));
  }
}

function signedDistances(margins) {
  const depth = margins.filter((margin) => margin).reduce(min);
  return margins.map((margin) => (margin ? margin + depth - 1n : 0n));
}

class MarginFlip {
  static own = ["coins"];

  constructor(content, answers, question, guarantee) {
    const allowed = guarantee.pure("a margin flip");
    const given = keys(content.coins, "coins", "first", "ratio");
    if (answers.length < 2) refuse("a margin flip must have at least 2 answers");
    this.answers = answers;
    this.coins = new Falling(fraction(given.ratio, "ratio"), weight(given.first));
    this.coins.mustKeep(allowed, 2n);
    const first = { top: this.coins.at(0n), bottom: TOTAL };
    const { ratio } = this.coins;
    if (above(ratio, first))
      for (const k of range(answers.length - 1)) {
        const near = times(ratio, first);
        const here = minus(mean(near, k + 1)[1], times(minus(ONE, ratio), mean(near, k)[0]));
        const beside = minus(mean(first, k + 1)[0], times(minus(ONE, first), mean(first, k)[1]));
        if (above(here, times(times(ratio, allowed), beside)))
          refuse("a border of the margin flip is too steep");
      }
    this.proved = "coins by signed margins, two steps a change";
  }

  key(margins) {
    return new Map(this.answers.map((answer, v) => [answer, margins[v]]));
  }

  row(key) {
    const distances = signedDistances(marginsOf(key, this.answers));
    return rowOfCoins(distances.map((far) => (far ? this.coins.at(far - 1n) : TOTAL)));
  }

  draw(key) {
    const distances = signedDistances(marginsOf(key, this.answers));
    const heads = distances.map((far) => !far || randomBits(BITS) < this.coins.at(far - 1n));
    return oneOf(range(heads.length).filter((v) => heads[v]));
  }
}

// Bounds of (1 − (1 − a)^(k+1)) / ((k + 1)·a).
function mean(a, k) {
  const places = 512n;
  const rest = minus(ONE, a);
  const [low, high] = rest.top > 0n ? powerBetween(rest, big(k + 1), places) : [0n, 0n];
  const bottom = a.top * (big(k + 1) << places);
  return [high, low].map((end) => ({ top: ((1n << places) - end) * a.bottom, bottom }));
}

const MOST_SETS = 20_000;

function combinations(values, size) {
  if (size === 0) return [[]];
  return values.flatMap((value, at) =>
    combinations(values.slice(at + 1), size - 1).map((rest) => [value, ...rest]),
  );
}

function choose(n, k) {
  let found = 1n;
  for (let i = 1n; i <= k; i++) found = (found * (n - k + i)) / i;
  return found;
}

function mustBeThatVote(given, answers, question) {
  if (question.kind !== "winner") refuse("counts must be those of a winner");
  const fits =
    given.answers === answers.length &&
    given.neighbors === question.neighbors &&
    given.ties === question.ties &&
    Number.isSafeInteger(given.rows) &&
    big(given.rows) === question.limit;
  if (!fits) refuse("the scores of a vote must be those of its question");
}

class Scores {
  constructor(content, answers, question) {
    const of = isObject(content) ? content.of : null;
    Object.assign(this, { of, answers, question });
    if (of === "margins") {
      keys(content, "scores of margins", "of");
      if (answers.length < 2) refuse("signed margins must have at least 2 answers");
      this.moves = 2n;
      return;
    }
    if (!question) refuse("the scores of a vote must have their question");
    const records = question.limit * (question.substituted ? 2n : 1n);
    if (of === "counts") {
      keys(content, "scores of counts", "of", "answers", "neighbors", "ties", "rows");
      mustBeThatVote(content, answers, question);
      this.parts = question.ties === "first listed" ? big(answers.length) : 1n;
      this.moves = this.parts * records;
      return;
    }
    keys(content, "scores of sets", "of", "ranked", "first", "neighbors", "rows");
    const ranked = small(content.ranked, "ranked", 1);
    const first = small(content.first, "first", 1);
    const fits =
      of === "sets" &&
      question.kind === "ranking" &&
      question.content.first === first &&
      Number.isSafeInteger(content.rows) &&
      big(content.rows) === question.limit &&
      content.neighbors === question.neighbors &&
      (question.content.in_order === false || first === 1);
    if (!fits) refuse("the scores of sets must be those of their question");
    const among = question.groups;
    if (ranked !== among.length || first >= ranked || ranked > MOST_SETS)
      refuse("the scores of sets must rank what the question ranks");
    if (answers.length > MOST_SETS || big(answers.length) !== choose(big(ranked), big(first)))
      refuse("the answers must be all sets, and not more than can be listed");
    this.sets = combinations(range(ranked), first);
    if (this.sets.some((set, v) => set.map((i) => among[i]).join(", ") !== answers[v]))
      refuse("the answers must be all sets, in the order of the list");
    this.parts = big(ranked);
    this.moves = this.parts * records;
  }

  distances(key) {
    if (this.of === "margins") return signedDistances(marginsOf(key, this.answers));
    const counts = this.question.counted(key);
    const delays = this.parts > 1n;
    let scores = counts.map((n, place) => this.parts * n - (delays ? big(place) : 0n));
    if (this.sets) scores = this.sets.map((set) => sum(set.map((i) => scores[i])));
    const most = scores.reduce(max);
    return scores.map((score) => most - score);
  }
}

class ByScores {
  constructor(content, answers, question, guarantee) {
    const [field] = new.target.own;
    const given = keys(content[field], field, "scores", "ratio");
    this.answers = answers;
    this.scores = new Scores(given.scores, answers, question);
    this.falling = new Falling(fraction(given.ratio, "ratio"));
    this.falling.mustKeep(this.allowed(guarantee), this.scores.moves);
    this.proved = `${this.scores.moves} steps a change`;
  }

  get byCounts() {
    return this.scores.of !== "margins";
  }

  key(margins) {
    return new Map(this.answers.map((answer, v) => [answer, margins[v]]));
  }
}

class PermuteAndFlip extends ByScores {
  static own = ["coins"];

  allowed(guarantee) {
    if (this.scores.of === "margins") refuse("permute-and-flip must have the scores of a vote");
    return guarantee.pure("permute-and-flip");
  }

  row(key) {
    return rowOfCoins(this.scores.distances(key).map((far) => this.falling.at(far)));
  }

  draw(key) {
    const heads = this.scores.distances(key).map((far) => randomBits(BITS) < this.falling.at(far));
    return oneOf(range(heads.length).filter((v) => heads[v]));
  }
}

class Exponential extends ByScores {
  static own = ["weights"];

  allowed(guarantee) {
    return guarantee.rangeWithin;
  }

  row(key) {
    return this.scores.distances(key).map((far) => this.falling.at(far));
  }

  draw(key) {
    return placeIn(this.row(key));
  }
}

class OrderedBins {
  static own = ["total", "steps"];

  constructor(content, answers, question, guarantee) {
    this.ratio = guarantee.pure("ordered bins");
    if (!question || question.kind !== "quantile" || question.limit !== 1n)
      refuse("ordered bins must be of a quantile with one record a person");
    const [total, steps] = [weight(content.total), weights(content.steps, 1 << 15)];
    Object.assign(this, { answers, total, steps, q: fraction(question.content.q, "q") });
    if (answers.length < 2 || !steps.length || steps.length > 32769 || steps.at(-1) < 1n)
      refuse("ordered bins must be two or more, with weights above 0");
    const { top, bottom } = this.ratio;
    for (let t = 0; t + 1 < steps.length; t++)
      if (steps[t + 1] > steps[t] || bottom * steps[t] > top * steps[t + 1])
        refuse("the weights of ordered bins must fall, by e^ε at most");
    if (steps[0] > total || bottom * total > top * steps[0])
      refuse("a border of ordered bins is too steep");
    this.proved = `${this.#statesThatHold()} states of ordered bins`;
  }

  #statesThatHold() {
    const size = this.answers.length;
    for (let nearest = 1; ; nearest *= 2) {
      const states = choose(big(2 * nearest + size - 1), big(size - 1));
      if (states * big(size) ** 2n > 1_000_000n) refuse("ordered bins must be few enough to check");
      const far = this.#firstFault(nearest);
      if (far === null) return states;
      if (far === 0 || nearest >= this.steps.length)
        refuse("the losers of ordered bins have too much");
    }
  }

  #firstFault(nearest) {
    const grid = 1n << 96n;
    const { total, steps, answers } = this;
    const { top, bottom } = this.ratio;
    const distant = ceil(this.#step(nearest) * grid, total + steps[0]);
    for (const far of range(answers.length)) {
      const hidden = big(far) * this.#step(nearest - 1);
      for (const leads of rising(-nearest, nearest, answers.length - 1 - far)) {
        const losers = this.#losers(leads);
        const taken = sum(losers.map(([held, crowd]) => ceil(held * grid, total + crowd)));
        const left = grid - taken - big(far) * distant;
        if (left * (bottom + top) >= grid * bottom) continue;
        const spread = sum(losers.map(([held]) => held));
        if (grid * steps[0] * bottom > left * (top * total + bottom * spread)) return far;
        for (const beside of besideLeads(leads)) {
          const moved = this.#losers(beside);
          const given = sum(moved.map(([held, crowd]) => (held * grid) / (total + crowd + hidden)));
          if (bottom * (grid - given) > top * left) return far;
        }
      }
    }
    return null;
  }

  #losers(leads) {
    return leads.map((lead, place) => {
      const seen = lead >= 0 ? leads : leads.map((other) => -1 - other);
      const own = seen[place];
      let crowd = this.steps[0];
      seen.forEach((other, at) => {
        if (at !== place) crowd += this.#step(Math.max(own - other, other));
      });
      return [this.#step(own), crowd];
    });
  }

  #step(lead) {
    return this.steps[Math.min(lead, this.steps.length - 1)];
  }

  leads(counts) {
    const rank = ceil(this.q.top * sum(counts), this.q.bottom);
    let upto = 0n;
    return counts.slice(0, -1).map((count) => (upto += count) - rank);
  }

  row(key) {
    if (!Array.isArray(key) || key.length !== this.answers.length - 1)
      refuse("a key must have a lead for each edge between two answers");
    const leads = key.map((lead) => Number(lead));
    if (leads.some((lead, at) => !Number.isSafeInteger(lead) || (at && lead < leads[at - 1])))
      refuse("leads must be rising whole numbers");
    const losers = this.#losers(leads);
    const all = losers.reduce((product, [, crowd]) => product * (this.total + crowd), 1n);
    const parts = losers.map(([held, crowd]) => (all / (this.total + crowd)) * held);
    const true_ = leads.filter((lead) => lead < 0).length;
    return [...parts.slice(0, true_), all - sum(parts), ...parts.slice(true_)];
  }

  draw(key) {
    return placeIn(this.row(key));
  }
}

function* rising(low, high, length, before = []) {
  if (before.length === length) return yield before;
  for (let next = before.at(-1) ?? low; next < high; next++)
    yield* rising(low, high, length, [...before, next]);
}

function* besideLeads(leads) {
  yield leads;
  for (let start = 0; start < leads.length; start++)
    for (let end = start + 1; end <= leads.length; end++)
      for (const change of [-1, 1]) {
        const moved = leads.map((lead, at) => lead + (at >= start && at < end ? change : 0));
        const same_ = moved.every((lead, at) => lead < 0 === leads[at] < 0);
        if (same_ && moved.every((lead, at) => !at || lead >= moved[at - 1])) yield moved;
      }
}

// Rows for a vote at a few gaps, blended between them: linear in ratio^gap for each gap.

const SHARE_BITS = 160n;
const MOST_STATES = 1 << 17;

class MarginTable {
  static own = ["shape", "total", "rows"];
  byCounts = true;
  #shares = new Map();
  #exactShares = new Map();

  constructor(content, answers, question, guarantee) {
    const ratio = guarantee.pure("a margin table");
    if (!question) refuse("a margin table must have its question");
    this.question = question;
    this.#readShape(content.shape, answers);
    this.total = weight(content.total);
    this.rows = listed(content.rows, "the rows of a margin table").map((row) => weights(row));
    if (this.rows.length !== this.states.size)
      refuse(`a margin table must have ${this.states.size} rows, got others`);
    if (this.total <= 0n || this.rows.some((r) => r.length !== this.size || sum(r) !== this.total))
      refuse("the rows of a margin table must sum to its total");
    this.#mustTreatAlike();
    const cases = [...this.#cases()];
    const corners = cases.reduce((n, { ends }) => n + ends.reduce((p, e) => p * e.length, 1), 0);
    if (corners > 1 << 20) refuse("a margin table must have fewer corners to compare");
    const slack = times(guarantee.delta, whole(this.total));
    for (const one of cases) this.#compare(one, ratio, slack);
    this.proved = `${corners} corners of a margin table`;
  }

  #readShape(shape, answers) {
    const names = "answers neighbors ties knots farthest ratio labeled".split(" ");
    const given = keys(shape, "the shape of a margin table", ...names);
    mustBeThatVote({ ...given, rows: 1 }, answers, this.question);
    this.knots = listed(given.knots, "knots").map((knot) => small(knot, "a knot"));
    this.farthest = small(given.farthest, "the farthest gap");
    this.ratio = fraction(given.ratio, "ratio");
    this.labeled = small(given.labeled, "labeled");
    const { knots, ratio } = this;
    if (knots[0] !== 0 || knots.some((knot, i) => i && knot <= knots[i - 1]))
      refuse("the knots of a margin table must rise from 0");
    if (this.farthest <= knots.at(-1)) refuse("the farthest gap must be beyond the knots");
    this.size = answers.length;
    this.first = this.question.ties === "first listed";
    if (!ratio.top || ratio.top >= ratio.bottom) refuse("a ratio must be between 0 and 1");
    if (big(this.farthest) * bitLength(ratio.bottom) > 1n << 18n) refuse("a ratio must be short");
    if (this.labeled > (this.first ? knots.length + 1 : 0))
      refuse("labeled knots must be knots, and none where any leader is right");
    if ((knots.length + 1) ** (Math.min(this.size, 20) - 1) > MOST_STATES)
      refuse("a margin table must have fewer states");
    this.states = new Map();
    for (const choice of product(range(this.size - 1).map(() => range(knots.length + 1)))) {
      const free = choice.filter((knot) => knot >= this.labeled);
      if (free.every((knot, i) => !i || knot >= free[i - 1]))
        this.states.set(choice.join(), this.states.size);
    }
  }

  atKnots(knots) {
    const free = range(knots.length).filter((at) => knots[at] >= this.labeled);
    const sorted = [...free].sort((a, b) => knots[a] - knots[b] || a - b);
    const [stands, arranged] = [range(knots.length), [...knots]];
    free.forEach((target, i) => {
      arranged[target] = knots[sorted[i]];
      stands[sorted[i]] = target;
    });
    const row = this.rows[this.states.get(arranged.join())];
    return [row[0], ...stands.map((place) => row[1 + place])];
  }

  #mustTreatAlike() {
    for (const [text, number] of this.states) {
      const [knots, row] = [text.split(",").map(Number), this.rows[number]];
      knots.forEach((knot, i) => {
        for (let j = i + 1; j < knots.length; j++)
          if (knot === knots[j] && knot >= this.labeled && row[i + 1] !== row[j + 1])
            refuse("equal gaps of a margin table must have equal weights");
        if (!this.first && knot === 0 && row[i + 1] !== row[0])
          refuse("tied leaders of a margin table must have equal weights");
      });
    }
  }

  #moved(change, gaps) {
    const behind = [0, ...gaps];
    const unit = this.first ? this.size : 1;
    const late = this.first ? 1 : 0;
    const scores = change.map((gain, at) => unit * (gain - behind[at]) - late * at);
    const best = Math.max(...scores);
    if (this.first) {
      const far = scores.map((score) => best - score);
      return [far.map((d) => d % this.size), far.map((d) => Math.floor(d / this.size))];
    }
    const leader = scores.indexOf(best);
    const places = range(this.size);
    [places[0], places[leader]] = leader ? [leader, 0] : [0, 0];
    return [places, scores.map((score) => best - score)];
  }

  *#changes() {
    const all = range(this.size);
    for (const v of all) yield [all.map((i) => Number(i === v)), false];
    if (!this.question.substituted) return;
    for (const u of all)
      for (let v = u + 1; v < this.size; v++)
        yield [all.map((i) => Number(i === v) - Number(i === u)), u > 0];
  }

  *#cases() {
    const seen = new Set();
    for (const [change, stays] of this.#changes()) {
      const reach = change.slice(1).map((gain) => Math.max(0, gain - change[0]));
      for (const choice of product(reach.map((far) => range(far + 1)))) {
        const pairs = choice.map((gap, i) => `${change[i + 1]}:${gap}`).sort();
        const kind = `${change[0]};${pairs.join()}`;
        if (!this.first && seen.has(kind)) continue;
        seen.add(kind);
        const shown = choice.map((gap, i) => gap + (gap === reach[i] ? 1000 : 0));
        const [goesTo, gaps] = this.#moved(change, shown);
        if (stays && goesTo[0] !== 0) continue;
        const moved = shown.map((gap, i) => gaps[i + 1] - gap);
        const ends = choice.map((gap, i) => (gap === reach[i] ? this.#ends(gap, moved[i]) : [gap]));
        yield { ends, moved, goesTo, old: gaps[0] };
      }
    }
  }

  #ends(least, moved) {
    const bends = [...this.knots, this.farthest];
    const found = new Set([least, ...bends, ...bends.map((bend) => bend - moved)]);
    return [...found].filter((gap) => gap >= least).sort((a, b) => a - b);
  }

  #compare({ ends, moved, goesTo, old }, ratio, slack) {
    const knots = range(this.knots.length + 1);
    const here = [];
    for (const at of product(range(this.size - 1).map(() => knots))) here.push(...this.atKnots(at));
    const axes = range(this.size).filter((j) => j && goesTo[j]);
    const beside = (leader) => {
      const found = [];
      for (const at of product(axes.map(() => knots))) {
        const seats = Array(this.size - 1).fill(0);
        axes.forEach((j, i) => (seats[goesTo[j] - 1] = at[i]));
        if (leader !== null) seats[goesTo[0] - 1] = leader;
        const row = this.atKnots(seats);
        for (const place of goesTo) found.push(row[place]);
      }
      return found;
    };
    let there;
    if (goesTo[0]) {
      const [lower, near] = this.#share(old);
      const far = (1n << SHARE_BITS) - near;
      const one = beside(lower);
      const other = far ? beside(lower + 1) : one;
      there = one.map((held, i) => near * held + far * other[i]);
    } else there = beside(null);
    const descend = (mine, theirs, chosen) => {
      const place = chosen.length;
      if (place === this.size - 1)
        return this.#decide(mine, theirs, chosen, moved, goesTo, old, ratio, slack);
      for (const gap of ends[place]) {
        const next = goesTo[place + 1] ? this.#blend(theirs, gap + moved[place]) : theirs;
        descend(this.#blend(mine, gap), next, [...chosen, gap]);
      }
    };
    descend(here, there, []);
  }

  #blend(rows, gap) {
    const [lower, near] = this.#share(gap);
    const stride = rows.length / (this.knots.length + 1);
    const far = (1n << SHARE_BITS) - near;
    const found = Array(stride);
    const [one, other] = [lower * stride, (lower + 1) * stride];
    if (!far) for (let i = 0; i < stride; i++) found[i] = rows[one + i] << SHARE_BITS;
    else for (let i = 0; i < stride; i++) found[i] = near * rows[one + i] + far * rows[other + i];
    return found;
  }

  #decide(here, there, gaps, moved, goesTo, old, ratio, slack) {
    const axes = big(this.size - 1);
    const { top, bottom } = ratio;
    const scale = 1n << (SHARE_BITS * axes);
    const off = (top + bottom) * axes * this.total * (scale >> SHARE_BITS) + 1n;
    const limit = bottom * slack.top * scale;
    const clear = (p, q) => {
      let over = 0n;
      for (let v = 0; v < p.length; v++) over += max(0n, bottom * p[v] - top * q[v] + off);
      return over * slack.bottom <= limit;
    };
    if (clear(here, there) && clear(there, here)) return;
    const after = Array(this.size - 1).fill(0);
    goesTo.forEach((to, j) => {
      if (to) after[to - 1] = j ? gaps[j - 1] + moved[j - 1] : old;
    });
    const one = this.#exact(gaps);
    const theirs = this.#exact(after);
    const other = goesTo.map((to) => theirs[to]);
    for (const [p, q] of [[one, other], [other, one]]) {
      let over = NONE;
      p.forEach((held, v) => {
        const more = minus(held, times(ratio, q[v]));
        if (more.top > 0n) over = plus(over, reduced(more.top, more.bottom));
      });
      if (above(over, slack))
        refuse(`neighboring rows of a margin table must be close, but not at the gaps ${gaps}`);
    }
  }

  #exactShare(gap) {
    if (!this.#exactShares.has(gap)) {
      const lower = this.knots.findLastIndex((knot) => knot <= gap);
      const step = big(Math.min(gap, this.farthest) - this.knots[lower]);
      const { top: a, bottom: b } = this.ratio;
      let share = { top: a ** step, bottom: b ** step };
      if (lower + 1 < this.knots.length) {
        const width = big(this.knots[lower + 1] - this.knots[lower]);
        share = {
          top: a ** step * b ** (width - step) - a ** width,
          bottom: b ** width - a ** width,
        };
      }
      this.#exactShares.set(gap, [lower, share]);
    }
    return this.#exactShares.get(gap);
  }

  #share(gap) {
    if (!this.#shares.has(gap)) {
      const [lower, share] = this.#exactShare(gap);
      this.#shares.set(gap, [lower, (share.top << SHARE_BITS) / share.bottom]);
    }
    return this.#shares.get(gap);
  }

  #exact(gaps) {
    const around = gaps.map((gap) => this.#exactShare(gap));
    let row = range(this.size).map(() => NONE);
    for (const at of product(gaps.map(() => [0, 1]))) {
      let part = ONE;
      at.forEach((beyond, i) => {
        const share = around[i][1];
        part = times(part, beyond ? minus(ONE, share) : share);
      });
      if (part.top) {
        const held = this.atKnots(at.map((beyond, i) => around[i][0] + beyond));
        row = row.map((sum_, v) => {
          const next = plus(sum_, times(part, whole(held[v])));
          return reduced(next.top, next.bottom);
        });
      }
    }
    return row;
  }

  #standing(key) {
    const [order, gaps] = this.question.standing(key);
    return [order, gaps.map((gap) => Number(min(gap, big(this.farthest + 1))))];
  }

  row(key) {
    const [order, gaps] = this.#standing(key);
    const exact = this.#exact(gaps);
    const common = exact.reduce((all, { bottom }) => (all * bottom) / gcd(all, bottom), 1n);
    const row = Array(this.size);
    order.forEach((v, at) => (row[v] = (exact[at].top * common) / exact[at].bottom));
    return row;
  }

  draw(key) {
    const [order, gaps] = this.#standing(key);
    const knots = gaps.map((gap) => {
      const [lower, share] = this.#exactShare(gap);
      if (share.top === share.bottom) return lower;
      return lower + Number(randomBelow(share.bottom) >= share.top);
    });
    return order[placeIn(this.atKnots(knots))];
  }
}

function* product(lists, before = []) {
  if (before.length === lists.length) return yield before;
  for (const next of lists[before.length]) yield* product(lists, [...before, next]);
}

// Crowd tables: rows by how many rivals are how near. The gaps below `ordered` of the rivals that
// follow the leader in the list are the word of a row; at the other knots rivals are counted. Who
// is farther tosses a coin for being counted at the last knot.
//
// The proof: a chance is affine in the chance z of each coin, and where a rival stays at or behind
// the last knot and its gap grows by s, z becomes z·ratio^s. So it is enough to let the nearer gap
// of everybody be a knot, or to leave them out. A rival's own coin is a factor that falls by between
// 1 and ratio^-s: A ≤ E·ratio^s·B and B ≤ E·A for the other factors cover all distances. Coins are
// whole numbers, off their power by at most `least` of 2^127: a part of E is put aside for that.
// Chances are in units of 2^-64 of a weight, each less than 2 units below the true one.

const [FINE, COARSE] = [160n, 64n]; // binary places of the chances of heads, and of means
const ASIDE = { top: (1n << 41n) - 1n, bottom: 1n << 41n };
const FAR = 1000; // a gap that no change closes
const MOST_CROWDS = 1 << 15;
const MOST_CROWD_CORNERS = 1 << 21;

class CrowdTable {
  static own = ["shape", "total", "rows"];
  byCounts = true;
  #ways = new Map();

  constructor(content, answers, question, guarantee) {
    const ratio = guarantee.pure("a crowd table");
    if (!question) refuse("a crowd table must have its question");
    this.question = question;
    this.#readShape(content.shape, answers);
    this.total = weight(content.total);
    if (!this.total || this.total >= 1n << 64n)
      refuse("the total of a crowd table must be above 0 and below 2^64");
    const rows = listed(content.rows, "the rows of a crowd table");
    const many = this.#crowds(this.places);
    if (rows.length !== many) refuse(`a crowd table must have ${many} rows, got others`);
    this.rows = new Map();
    let at = 0;
    for (const word of this.#words()) {
      const beside = new Map();
      for (const counts of this.#upTo(this.rivals - word.length, this.places)) {
        const row = weights(rows[at++]);
        this.#mustBeARow(word, counts, row);
        beside.set(sumOf(counts.map((n, i) => n * this.#one(this.ordered + i))), row);
      }
      this.rows.set(word.join(), beside);
    }
    this.proved = `${this.#mustBeClose(ratio)} comparisons of a crowd table`;
  }

  #readShape(shape, answers) {
    const names = "answers neighbors ties knots ordered ratio".split(" ");
    const given = keys(shape, "the shape of a crowd table", ...names);
    mustBeThatVote({ ...given, rows: 1 }, answers, this.question);
    this.knots = small(given.knots, "the knots of a crowd table", 3);
    this.ordered = small(given.ordered, "the ordered gaps of a crowd table");
    this.first = this.question.ties === "first listed";
    if (this.ordered >= (this.first ? this.knots : 1))
      refuse("the ordered gaps of a crowd table must be fewer than its knots, and none where any leader is right");
    if (answers.length < 2 || answers.length > 12) refuse("a crowd table must have 2 to 12 answers");
    this.rivals = answers.length - 1;
    this.places = this.knots - this.ordered;
    this.spots = this.ordered ? this.rivals : 0;
    this.falling = new Falling(fraction(given.ratio, "ratio"));
    const wide = this.places + 2;
    if (wide > 53 || answers.length ** wide > 2 ** 53 || this.#crowds(wide) > MOST_CROWDS)
      refuse("a crowd table must have fewer gaps, for so many answers");
  }

  #crowds(places) {
    let found = 0;
    for (let length = 0; length <= this.spots; length++) {
      const counted = choose(big(this.rivals - length + places), big(places));
      found += this.ordered ** length * Number(counted);
    }
    return found;
  }

  // All words, as numbers whose first digit is the least; no letter comes before any.
  *#words() {
    const before = (spot) =>
      spot === 0
        ? [[]]
        : [-1, ...range(this.ordered)].flatMap((letter) =>
            before(spot - 1)
              .filter((word) => letter < 0 || word.length === spot - 1)
              .map((word) => (letter < 0 ? word : [...word, letter])),
          );
    yield* before(this.spots);
  }

  // All counts that sum to at most so many, the last one rising slowest.
  *#upTo(most, places) {
    if (places === 0) return yield [];
    for (let many = 0; many <= most; many++)
      for (const fewer of this.#upTo(most - many, places - 1)) yield [...fewer, many];
  }

  #mustBeARow(word, counts, row) {
    const taken = [1, ...range(this.spots).map((spot) => Number(spot < word.length)), ...counts];
    if (row.length !== taken.length)
      refuse(`the rows of a crowd table must have ${taken.length} weights`);
    if (row.some((held, seat) => held > 0n !== taken[seat] > 0))
      refuse("exactly the answers at the gaps of a crowd must have some weight");
    if (sum(row.map((held, seat) => held * big(taken[seat]))) !== this.total)
      refuse("the rows of a crowd table must sum to its total");
    if (!this.first && counts[0] && row[0] !== row[1])
      refuse("tied leaders of a crowd table must have equal weights");
  }

  #seat(gap) {
    return 1 + this.spots + gap - this.ordered;
  }

  #one(gap) {
    return (this.rivals + 1) ** (gap - this.ordered);
  }

  // Seats to compare: upper and lower here, upper and lower there.
  #pair([seat, gap], [seatThere, gapThere]) {
    const upper = (own, at, other) =>
      at === this.knots && other < this.knots - 1 ? this.#seat(at) + 2 : own;
    return [upper(seat, gap, gapThere), seat, upper(seatThere, gapThere, gap), seatThere];
  }

  // One end of every pair of neighbors: what the leader gains, gap and gain of others, who leads
  // next, and how many rivals that are out have given or taken. Playing them tells which can be.
  *#scenes() {
    const gaps = range(this.knots + 2);
    const unseen = Number(this.question.substituted);
    yield { gain: 1, movers: [], lead: null, unseen };
    for (const gap of gaps)
      for (const lead of [null, 0]) yield { gain: 0, movers: [[gap, 1]], lead, unseen };
    if (!this.question.substituted) return;
    for (const gap of gaps)
      for (const lead of [null, 0]) yield { gain: -1, movers: [[gap, 1]], lead, unseen: 0 };
    for (const loser of gaps)
      for (const gainer of gaps)
        yield { gain: 0, movers: [[loser, -1], [gainer, 1]], lead: null, unseen: 0 };
    if (!this.first) return;
    yield { gain: -1, movers: [[0, 0]], lead: 0, unseen: 1 };
    for (const gap of gaps) yield { gain: -1, movers: [[0, 0], [gap, 1]], lead: 0, unseen: 0 };
  }

  // Some in the order of the list from the leader on, and what a change makes of it.
  #line({ gain, movers, lead }, spots, bystanders) {
    const length = 1 + spots.length + bystanders;
    const gains = Array(length + 2).fill(0);
    const gaps = Array(length + 2).fill(FAR);
    [gains[0], gaps[0]] = [gain, 0];
    spots.forEach((spot, i) => ([gaps[spot], gains[spot]] = movers[i]));
    const stand = [0, length, ...range(length).slice(1), length + 1]; // two more, first and last
    const unit = this.first ? stand.length : 1;
    const behind = Array(stand.length);
    stand.forEach((place, late) => {
      behind[place] = unit * (gaps[place] - gains[place]) + (this.first ? late : 0);
    });
    const least = Math.min(...behind);
    const after = behind.map((far) => Math.floor((far - least) / unit));
    const turn = (place) => (behind[place] > least ? 1 + ((behind[place] - least) % unit) : 0);
    const order = [...stand].sort((a, b) => turn(a) - turn(b));
    const leads = order[0];
    if (leads !== (lead === null ? 0 : spots[lead])) return null;
    if (spots.some((spot) => Math.min(gaps[spot], after[spot]) >= this.knots)) return null;
    const shifts = [...new Set([after[length] - FAR, after[length + 1] - FAR])];
    const others = range(length).filter((place) => place && !spots.includes(place));
    for (const place of others) {
      const shift = after[place] - FAR;
      [gaps[place], after[place]] = [Math.max(0, -shift), Math.max(0, shift)];
    }
    const near = (place) => place < length && Math.min(gaps[place], after[place]) < this.ordered;
    const here = range(length).filter((place) => place && near(place));
    const there = order.slice(1).filter(near);
    const names = [0, ...spots, ...others];
    const told = [here, there].map((end) => end.map((place) => names.indexOf(place)));
    const moved = names.map((place) => [gaps[place], after[place]]);
    const signature = JSON.stringify([told, moved, shifts]);
    return { gaps, after, length, leads, shifts, others, here, there, signature };
  }

  *#lines() {
    for (const scene of this.#scenes()) {
      const free = this.rivals - scene.unseen - scene.movers.length;
      const seen = new Set();
      for (let many = 0; many <= (this.ordered ? free : Math.min(0, free)); many++)
        for (const spots of arranged(range(scene.movers.length + many), scene.movers.length)) {
          const line = this.#line(scene, spots.map((spot) => spot + 1), many);
          if (!line || seen.has(line.signature)) continue;
          seen.add(line.signature);
          yield [line, free - many];
        }
    }
  }

  // All crowds of up to so many bystanders without a letter: both codes, and what to compare.
  #moreOf(shifts, most) {
    const moves = [];
    for (const shift of shifts)
      for (let near = this.ordered; near < this.knots; near++) {
        const [gap, other] = [near + Math.max(0, -shift), near + Math.max(0, shift)];
        const pair = this.#pair([this.#seat(gap), gap], [this.#seat(other), other]);
        moves.push([this.#one(gap), this.#one(other), pair]);
      }
    const found = [[0, 0, []]];
    let latest = [[0, 0, [], 0]];
    for (let many = 0; many < most; many++) {
      const next = [];
      for (const [here, there, pairs, lowest] of latest)
        for (let at = lowest; at < moves.length; at++) {
          const [one, other, pair] = moves[at];
          const all = pairs.includes(pair) ? pairs : [...pairs, pair];
          next.push([here + one, there + other, all, at]);
        }
      for (const crowd of next) found.push(crowd);
      latest = next;
    }
    return found;
  }

  #ends(line, letters) {
    const near = new Map(line.others.map((place, i) => [place, letters[i]]));
    const sides = [
      [line.gaps, line.here, 0],
      [line.after, line.there, line.leads],
    ].map(([gaps, order, leader]) => {
      const gapOf = (place) => gaps[place] + (near.get(place) ?? 0);
      const word = [];
      const seats = Array(line.length);
      let code = 0;
      seats[leader] = [0, 0];
      for (const place of order)
        if (gapOf(place) < this.ordered) seats[place] = [word.push(gapOf(place)), gapOf(place)];
      for (let place = 0; place < line.length; place++) {
        if (seats[place]) continue;
        code += this.#one(gapOf(place));
        seats[place] = [this.#seat(gapOf(place)), gapOf(place)];
      }
      return { word: word.join(), code, seats };
    });
    const pairs = sides[0].seats.map((seat, place) => this.#pair(seat, sides[1].seats[place]));
    return [...sides, pairs];
  }

  // The chance of each number of heads among coins one and two records behind the last knot.
  #heads(one, two) {
    const name = `${one} ${two}`;
    if (!this.#ways.has(name)) {
      const { top, bottom } = this.falling.ratio;
      let [ways, whole] = [[1n], 1n];
      const toss = (a, b) => {
        const next = [...ways.map((way) => way * (b - a)), 0n];
        ways.forEach((way, heads) => (next[heads + 1] += way * a));
        [ways, whole] = [next, whole * b];
      };
      for (let i = 0; i < one; i++) toss(top, bottom);
      for (let i = 0; i < two; i++) toss(top * top, bottom * bottom);
      this.#ways.set(name, ways.map((way) => (way << FINE) / whole));
    }
    return this.#ways.get(name);
  }

  // Upper bounds of all seats and E times the lower ones, without own coins behind the last knot.
  // These lower E instead; the last upper bound is one record behind it, with the coin.
  #bounds(word, code, allowed, coin) {
    const rows = this.rows.get(word);
    const [base, last] = [this.rivals + 1, this.#one(this.knots - 1)];
    const coins = Math.floor(code / (last * base));
    const near = code % (last * base);
    const [one, two] = [coins % base, Math.floor(coins / base)];
    const mean = (ways, seat, more) => {
      let found = 0n;
      ways.forEach((way, heads) => (found += way * rows.get(near + (heads + more) * last)[seat]));
      return found;
    };
    const row = rows.get(near);
    const ways = this.#heads(one, two);
    const lows = row.map((held, seat) => (held ? mean(ways, seat, 0) : 0n));
    const end = row.length - 1;
    lows.push(one ? mean(this.#heads(one - 1, two), end, 1) : 0n);
    lows.push(two ? mean(this.#heads(one, two - 1), end, 1) : 0n);
    const units = lows.map((low) => low >> (FINE - COARSE));
    const uppers = units.map((low) => low + 2n);
    uppers.push(ceil(uppers[end + 1] * coin.top, coin.bottom));
    const lowers = units.map((low, seat) => {
      const most = allowed[Math.max(0, seat - end)];
      return (low * most.top) / most.bottom;
    });
    return [uppers, lowers];
  }

  #mustBeClose(ratio) {
    const { ratio: fall, least } = this.falling;
    const square = times(fall, fall);
    const within = times(ratio, ASIDE);
    const off = { top: big(this.rivals) * least * this.total, bottom: TOTAL };
    if (above(times(off, plus(ONE, ratio)), times(minus(ratio, within), square)))
      refuse("the coins of a crowd table must be finer, or its total smaller");
    const allowed = [within, times(within, fall), times(within, square)];
    const coin = plus(fall, { top: least, bottom: TOTAL });
    const plan = [];
    let many = 0;
    for (const [line, most] of this.#lines()) {
      const moves = line.shifts.length * this.places;
      many += this.ordered ** line.others.length * Number(choose(big(most + moves), big(most)));
      if (many > MOST_CROWD_CORNERS) refuse("a crowd table must have fewer corners to compare");
      plan.push([line, most]);
    }
    const known = new Map([...this.rows.keys()].map((word) => [word, new Map()]));
    const at = (word, code) => {
      const beside = known.get(word);
      if (!beside.has(code)) beside.set(code, this.#bounds(word, code, allowed, coin));
      return beside.get(code);
    };
    const crowds = new Map();
    let compared = 0;
    for (const [line, most] of plan) {
      const name = `${line.shifts} ${most}`;
      if (!crowds.has(name)) crowds.set(name, this.#moreOf(line.shifts, most));
      for (const letters of product(line.others.map(() => range(this.ordered)))) {
        const [here, there, own] = this.#ends(line, letters);
        for (const [more, moreThere, others] of crowds.get(name)) {
          const [p, lowerP] = at(here.word, here.code + more);
          const [q, lowerQ] = at(there.word, there.code + moreThere);
          for (const pairs of [own, others])
            for (const [upper, lower, upperThere, lowerThere] of pairs)
              if (p[upper] > lowerQ[lowerThere] || q[upperThere] > lowerP[lower])
                refuse("neighboring rows of a crowd table must be close, but some are not");
          compared += 2 * (own.length + others.length);
        }
      }
    }
    return compared;
  }

  // The row where rivals have these gaps, all of them knots, and the seat of each.
  #crowd(gaps) {
    const word = [];
    let code = 0;
    const seats = gaps.map((gap) => {
      if (gap < this.ordered) return word.push(gap);
      code += this.#one(gap);
      return this.#seat(gap);
    });
    return [this.rows.get(word.join()).get(code), seats];
  }

  #standing(key) {
    const [order, gaps] = this.question.standing(key);
    const last = big(this.knots - 1);
    const coins = gaps.map((gap) => (gap > last ? this.falling.at(gap - last) : TOTAL));
    return [order, gaps.map((gap) => Number(min(gap, last))), coins];
  }

  row(key) {
    const [order, gaps, coins] = this.#standing(key);
    const row = order.map(() => 0n);
    for (const heads of product(coins.map((coin) => (coin < TOTAL ? [true, false] : [true])))) {
      let likely = 1n;
      coins.forEach((coin, i) => {
        if (coin < TOTAL) likely *= heads[i] ? coin : TOTAL - coin;
      });
      const seen = range(gaps.length).filter((i) => heads[i]);
      const [held, seats] = this.#crowd(seen.map((i) => gaps[i]));
      row[order[0]] += likely * held[0];
      seen.forEach((i, at) => (row[order[i + 1]] += likely * held[seats[at]]));
    }
    return row;
  }

  draw(key) {
    const [order, gaps, coins] = this.#standing(key);
    const seen = range(gaps.length).filter((i) => randomBits(BITS) < coins[i]);
    const [held, seats] = this.#crowd(seen.map((i) => gaps[i]));
    const drawn = placeIn([held[0], ...seats.map((seat) => held[seat])]);
    return drawn ? order[seen[drawn - 1] + 1] : order[0];
  }
}

const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);

// All ways to choose so many of the values, in every order.
function* arranged(values, size) {
  if (size === 0) return yield [];
  for (const value of values)
    for (const rest of arranged(values.filter((other) => other !== value), size - 1))
      yield [value, ...rest];
}

// Noise.

const UNIFORM_BITS = 40n;
const SPARE = 96n;

class NoisyCounts {
  static own = ["noise"];
  byCounts = true;

  constructor(content, answers, question, guarantee) {
    if (!question || answers.length < 2) refuse("noisy counts must have a vote with 2 answers");
    const given = keys(content.noise, "noise", "vote", "parts", "deviation", "bits");
    const vote = keys(given.vote, "the vote", "of", "answers", "neighbors", "ties", "rows");
    mustBeThatVote(vote, answers, question);
    Object.assign(this, { question, size: answers.length });
    this.parts = big(small(given.parts, "parts", 1));
    this.deviation = fraction(given.deviation, "deviation");
    this.bits = big(small(given.bits, "bits", 64));
    const square = times(this.deviation, this.deviation);
    const places = isqrt((14n * this.bits * square.top) / (10n * square.bottom)) + 2n;
    if (vote.of !== "counts" || this.bits > 4096n || places > 32768n || !square.top)
      refuse("noisy counts must be of a vote, with noise that can be listed");
    const first = question.ties === "first listed";
    this.delays = range(this.size).map((at) =>
      first ? (big(at) * this.parts) / big(this.size) : 0n,
    );
    const away = this.#weigh();
    this.#mustHold(guarantee, away);
    this.proved = `${this.half.length} weights beside normal noise`;
  }

  #weigh() {
    const bits = this.bits + SPARE;
    const { top, bottom } = this.deviation;
    const tails = [];
    let off = 0n;
    while (!tails.length || tails.at(-1)) {
      const x = ((big(2 * tails.length + 1) * bottom) << bits) / (2n * top);
      const [low, high] = normalBetween(x, bits);
      tails.push(max(0n, (1n << bits) - high - 2n) >> SPARE);
      off += (1n << bits) - low - (tails.at(-1) << SPARE);
      if (tails.length > 65536) refuse("noise must be short enough to be listed");
    }
    this.half = [(1n << this.bits) - 2n * tails[0]];
    for (let z = 0; z + 1 < tails.length; z++) this.half.push(tails[z] - tails[z + 1]);
    this.side = sum(this.half.slice(1));
    return reduced(2n * off, 1n << bits);
  }

  #mustHold(guarantee, each) {
    const one = whole((this.parts * this.question.limit) ** 2n);
    const size = big(this.size);
    let moved = times(whole(2), one);
    if (!this.question.substituted) {
      const shared = { top: one.top * (size - 1n) * 4n + size * size, bottom: 4n * size };
      moved = above(one, shared) ? shared : one;
    }
    const { top, bottom } = this.deviation;
    const square = { top: moved.top * bottom * bottom, bottom: moved.bottom * top * top };
    if (guarantee.kind === "dp") mustBeWithin(square, guarantee);
    else if (above(square, guarantee.squaredMu))
      refuse("the noise of the counts must keep the guarantee, but does not");
    const away = times(each, whole(size));
    if (!away.top || 2n * away.top >= away.bottom) refuse("the noise must be nearer to normal");
    const bits = this.bits + 2n * SPARE;
    const mu = rootBetween(square, bits);
    const most = { top: size - 1n, bottom: size };
    const scale = 1n << bits;
    const slack = plus({ top: grownBetween(away, mu, bits)[1], bottom: scale }, away);
    const room = minus({ top: grownBetween(most, mu, bits)[0], bottom: scale }, most);
    if (above(times(whole((1n << UNIFORM_BITS) - 1n), slack), room))
      refuse("the noise must be nearer to normal for this guarantee");
  }

  #scores(key) {
    return this.question.counted(key).map((n, v) => this.parts * n - this.delays[v]);
  }

  draw(key) {
    const scores = this.#scores(key);
    if (randomBits(40) === 0n) return Number(randomBelow(big(this.size)));
    const noisy = scores.map((score) => score + this.#noise());
    const most = noisy.reduce(max);
    return randomBits(1) ? noisy.lastIndexOf(most) : noisy.indexOf(most);
  }

  #noise() {
    const drawn = placeIn([this.half[0], this.side, this.side]);
    if (!drawn) return 0n;
    const far = big(1 + placeIn(this.half.slice(1)));
    return drawn === 1 ? far : -far;
  }

  row(key) {
    const scores = this.#scores(key);
    const far = big(this.half.length - 1);
    const chance = (z) => (z > far || -z > far ? 0n : this.half[Number(z < 0n ? -z : z)]);
    const sums = [];
    for (let z = -far; z <= far; z++) sums.push((sums.at(-1) ?? 0n) + chance(z));
    const upto = (z) => (z < -far ? 0n : sums[Number(min(z, far) + far)]);
    const shares = scores.map(() => 0n);
    for (let top = scores.reduce(min) - far; top <= scores.reduce(max) + far; top++)
      scores.forEach((score, v) => {
        const own = chance(top - score);
        if (!own) return;
        let [first, last] = [own, own];
        scores.forEach((other, i) => {
          if (i === v) return;
          const [less, most] = [upto(top - 1n - other), upto(top - other)];
          first *= i < v ? less : most;
          last *= i < v ? most : less;
        });
        shares[v] += first + last;
      });
    const size = big(this.size);
    const alike = 2n << (this.bits * size);
    return shares.map((share) => ((1n << UNIFORM_BITS) - 1n) * size * share + alike);
  }
}

function mustBeWithin(square, { delta, epsilon, ratio }) {
  if (!delta.top || !above(ONE, delta)) refuse("noisy counts must have a delta between 0 and 1");
  const bits = 512n;
  const [least, mu] = rootBetween(square, bits);
  if (!least) refuse("the noise must have some effect");
  const paid = epsilon
    ? (epsilon.top << bits) / epsilon.bottom
    : max(0n, logBetween(ratio, bits)[0]);
  const quotient = (paid << bits) / mu;
  const more = normalBetween((mu >> 1n) + 1n - quotient, bits)[1];
  const less = normalBetween(-(mu >> 1n) - 2n - quotient - 1n, bits)[0];
  const found = more - ((expBetween(paid, bits)[0] * less) >> bits);
  if (found * delta.bottom > delta.top << bits)
    refuse("the noise of the counts must keep (ε,δ), but does not");
}

export class NoisyCount {
  constructor(content) {
    keys(content, "the file of a count", "format", "version", "guarantee", "question", "noise");
    const question = new Question(content.question, []);
    if (question.kind !== "count") refuse("the file of a count must have a count's question");
    const guarantee = new Guarantee(content.guarantee);
    const given = keys(content.noise, "noise", "half", "tail", "end", "reach");
    const half = weights(given.half);
    const [tail, end, reach] = [given.tail, given.end, given.reach].map(weight);
    const most = big(small(content.question.at_most, "at_most", 1));
    const [change, far] = [question.limit, big(half.length - 1)];
    const longest = guarantee.lines ? 1n << 18n : 1n << 15n;
    if (far < 0n || far > longest || !half[0] || reach < most)
      refuse("noise must have weights and reach as far as the counts");
    if (change > longest || reach <= far + change)
      refuse("the reach of noise must be beyond its weights and one change");
    const falling = [...half, tail];
    if (falling.some((held, at) => at && held > falling[at - 1]))
      refuse("the weights of noise must not grow with the distance from 0");
    Object.assign(this, { kind: "canonical-noise", half, tail, end, reach, most });
    this.side = sum(half.slice(1)) + (reach - big(half.length)) * tail + end;
    const places = [];
    for (let z = -far; z <= far + change; z++) places.push(z);
    const [crowd, between] = [change * tail, (reach - 1n - far - change) * tail];
    const one = [end + crowd, between, ...places.map((z) => this.chance(z)[0]), between, end];
    const moved = places.map((z) => this.chance(z - change)[0]);
    guarantee.mustBeClose(one, [end, between, ...moved, between, end + crowd], "moved noise");
    this.proved = `${one.length} weights beside themselves, moved by ${change}`;
    this.guarantee = content.guarantee;
  }

  // The weight of a number as noise, and the total of all.
  chance(number) {
    const place = number < 0n ? -big(number) : big(number);
    const total = this.half[0] + 2n * this.side;
    if (place < big(this.half.length)) return [this.half[Number(place)], total];
    return [place < this.reach ? this.tail : place === this.reach ? this.end : 0n, total];
  }

  release(counts) {
    if (!isObject(counts) || Object.keys(counts).join() !== "matching")
      refuse("the counts of a count must be of matching");
    const found = min(wholeOf(counts.matching), this.most) + this.#draw();
    return Number(min(max(found, 0n), this.most));
  }

  #draw() {
    let drawn = randomBelow(this.half[0] + 2n * this.side) - this.half[0];
    if (drawn < 0n) return 0n;
    const sign = drawn >= this.side ? -1n : 1n;
    drawn %= this.side;
    for (let z = 1; z < this.half.length; z++) {
      if (drawn < this.half[z]) return sign * big(z);
      drawn -= this.half[z];
    }
    const inside = (this.reach - big(this.half.length)) * this.tail;
    return sign * (drawn < inside ? big(this.half.length) + drawn / this.tail : this.reach);
  }
}

// The file as a whole.

const KINDS = {
  "crowd-table": CrowdTable,
  exponential: Exponential,
  "margin-flip": MarginFlip,
  "margin-table": MarginTable,
  "noisy-counts": NoisyCounts,
  "ordered-bins": OrderedBins,
  "permute-and-flip": PermuteAndFlip,
  proximity: Proximity,
};
const HEAD = "format version guarantee neighbors question answers mixing rule".split(" ");

export class Mechanism {
  #rule;
  #question;

  constructor(content) {
    this.kind = content.rule;
    this.checksum = sha256(new TextEncoder().encode(canonical(content)));
    this.answers = listed(content.answers, "answers").map(name);
    if (!this.answers.length || new Set(this.answers.map(canonical)).size < this.answers.length)
      refuse("answers must be different, and there must be one");
    let made = this.kind === "homogeneous" && ("ladder" in content ? OneLadder : Ladders);
    if (typeof this.kind === "string" && Object.hasOwn(KINDS, this.kind)) made = KINDS[this.kind];
    if (!made) {
      const known = ["homogeneous", ...Object.keys(KINDS)].sort().join(", ");
      refuse(`this reader proves ${known}, got another rule: use rainbowdp itself`);
    }
    const more = (made.mayHave ?? []).filter((key) => key in content);
    keys(content, "a mechanism file", ...HEAD, ...made.own, ...more);
    const guarantee = new Guarantee(content.guarantee);
    this.#question = content.question === null ? null : new Question(content.question, this.answers);
    const fits = this.#question
      ? content.neighbors === this.#question.neighbors
      : isOnAGraph(content.neighbors);
    if (!fits)
      refuse("a file must have the neighbors of its question, or of a graph");
    if (above(fraction(content.mixing, "mixing"), { top: 1n, bottom: 1024n }))
      refuse("mixing must be at most 1/1024");
    this.#rule = new made(content, this.answers, this.#question, guarantee);
    this.proved = this.#rule.proved;
    this.guarantee = content.guarantee;
    this.neighbors = content.neighbors;
    this.question = content.question;
  }

  #key(counts) {
    if (!this.#question)
      refuse("the file of a graph has no counts: give a region and depth, or margins");
    if (this.#rule.byCounts) return counts;
    if (this.#rule instanceof OrderedBins)
      return this.#rule.leads(this.#question.counted(counts));
    return this.#rule.key(this.#question.margins(counts));
  }

  #placed(key) {
    const ladders = this.#rule instanceof Ladders || this.#rule instanceof OneLadder;
    if (!ladders || Array.isArray(key)) return key;
    if (!this.#question) refuse("the key of a graph's ladders is a region and a depth");
    return this.#rule.key(marginsOf(key, this.answers));
  }

  // The exact weight of each answer, at counts or at a key: [region, depth], margins, or leads.
  row(counts) {
    return this.rowAt(this.#key(counts));
  }

  rowAt(key) {
    return this.#rule.row(this.#placed(key));
  }

  // One answer, drawn with crypto.getRandomValues.
  release(counts) {
    return this.releaseAt(this.#key(counts));
  }

  releaseAt(key) {
    return this.answers[this.#rule.draw(this.#placed(key))];
  }
}

// The keys of the nodes of one tile of a map, for the mechanism that they belong to.
export class Tile {
  #keys = new Map();

  constructor(text, mechanism) {
    const content = parse(text);
    keys(content, "a tile", ..."format version mechanism tile by nodes keys".split(" "));
    if (content.format !== "rainbowdp tile" || content.version !== 1)
      refuse("a file of format 'rainbowdp tile' and version 1 is wanted");
    if (content.mechanism !== mechanism.checksum)
      refuse("a tile must be of this mechanism, got one of another");
    const [nodes, listedKeys] = [listed(content.nodes, "nodes"), listed(content.keys, "keys")];
    if (nodes.length !== listedKeys.length) refuse("a tile must have a key for each node");
    if (!["depth", "margins"].includes(content.by))
      refuse("the keys of a tile must be by depth or by margins");
    this.name = name(content.tile);
    this.mechanism = mechanism;
    nodes.forEach((node, place) => {
      const key = listed(listedKeys[place], "the key of a node");
      const label = canonical(name(node));
      if (this.#keys.has(label)) refuse("a tile must have each node once");
      if (content.by === "margins" && key.length !== mechanism.answers.length)
        refuse("the key of a node must have a margin for each answer");
      const margins = () => new Map(mechanism.answers.map((answer, v) => [answer, key[v]]));
      this.#keys.set(label, content.by === "depth" ? key : margins());
    });
  }

  get nodes() {
    return [...this.#keys.keys()].map((label) => JSON.parse(label));
  }

  // The key of a node, to be released at.
  key(node) {
    return this.#keys.get(canonical(name(node))) ?? refuse("a node must be one of the tile");
  }

  // One answer at a node.
  release(node) {
    return this.mechanism.releaseAt(this.key(node));
  }
}

// The mechanism of a file's text, proved again; throws Refused.
export function load(text) {
  try {
    const content = parse(text);
    if (content.version !== 1) refuse("this reader knows version 1 of mechanism files");
    if (content.format === "rainbowdp mechanism") return new Mechanism(content);
    if (content.format === "rainbowdp count") return new NoisyCount(content);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(`a mechanism file must be complete: ${String(error).slice(0, 200)}`);
  }
  return refuse("a mechanism file must have the format rainbowdp mechanism");
}
