// Reads golden files with the JavaScript reader; prints what it found as JSON.
import { readFileSync, readdirSync } from "node:fs";
const { load, Refused } = await import(process.argv[2]);
const folder = process.argv[3];
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const lowest = (top, bottom) => {
  const common = gcd(top, bottom);
  return bottom === common ? `${top / common}` : `${top / common}/${bottom / common}`;
};
const numbers = (given) =>
  Array.isArray(given)
    ? given
    : Object.fromEntries(
        Object.entries(given).map(([k, v]) => [k, typeof v === "string" ? BigInt(v) : v]),
      );
const found = { rows: [], refused: {}, draws: {} };
const made = {};
for (const file of readdirSync(folder).filter((f) => f.endsWith(".json") && f !== "expected.json"))
  try {
    made[file.slice(0, -5)] = load(readFileSync(`${folder}/${file}`, "utf8"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    found.refused[file] = error.message;
  }
for (const file of readdirSync(`${folder}/forged`))
  try {
    load(readFileSync(`${folder}/forged/${file}`, "utf8"));
    found.refused[`forged/${file}`] = null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    found.refused[`forged/${file}`] = error.message;
  }
const draws = Number(process.argv[4]);
for (const [number, place] of JSON.parse(readFileSync(`${folder}/expected.json`, "utf8")).entries()) {
  const mechanism = made[place.file];
  if (!mechanism) continue;
  if ("noise" in place) {
    found.rows[number] = [lowest(...mechanism.chance(BigInt(place.noise)))];
    continue;
  }
  const given = numbers(place.counts ?? place.key);
  const row = place.counts ? mechanism.row(given) : mechanism.rowAt(given);
  const total = row.reduce((a, b) => a + b);
  found.rows[number] = row.map((weight) => lowest(weight, total));
  const counts = {};
  for (let i = 0; i < draws; i++) {
    const answer = place.counts ? mechanism.release(given) : mechanism.releaseAt(given);
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  found.draws[number] = mechanism.answers.map((answer) => counts[answer] ?? 0);
}
console.log(JSON.stringify(found));
