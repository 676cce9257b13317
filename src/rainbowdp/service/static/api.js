// Talking to the service. The token lives in this module alone: not in the document, not on disk.

let token = null;

export const remember = (given) => { token = given; };
export const forget = () => { token = null; };

/** What the service refused, in its own words. */
export class Refused extends Error {
  constructor(message, { status = 0, code = "unreachable" } = {}) {
    super(message);
    Object.assign(this, { status, code });
  }
}

async function fetched(path, options = {}) {
  const headers = { ...options.headers, Accept: "application/json", Authorization: `Bearer ${token}` };
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The service cannot be reached. Look at your connection and try again.");
  }
  const said = await response.json().catch(() => null);
  if (response.ok && said !== null) return { status: response.status, said };
  const words = said?.detail ?? `The service replied with status ${response.status} and no reason.`;
  throw new Refused(words, { status: response.status, code: said?.code ?? "unexpected" });
}

const posted = (path, content, headers = {}) => fetched(path, {
  method: "POST",
  headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify(content),
});

const of = (dataset, what) => `v1/datasets/${encodeURIComponent(dataset)}${what}`;

export const me = async () => (await fetched("v1/me")).said;
export const datasets = async () => (await fetched("v1/datasets")).said;
export const dataset = async (name) => (await fetched(of(name, ""))).said;
export const balance = async (name) => (await fetched(of(name, "/balance"))).said;
export const history = async (name) => (await fetched(of(name, "/history?last=50"))).said;
export const requests = async () => (await fetched("v1/requests")).said;
export const explain = async (name, asked) => (await posted(of(name, "/explain"), asked)).said;

export const plan = async (name, wanted) => (await posted(of(name, "/plan"), wanted)).said;

export const decide = (request, verdict, reason) =>
  posted(`v1/requests/${encodeURIComponent(request)}/${verdict}`, reason ? { reason } : {});

const AGAIN = new Set([0, 408, 429, 502, 503, 504]);
const TRIES = 5;

/** Ask, and go on asking where no reply comes: with one key it is paid once, however often it is sent. */
export async function ask(name, asked, key, waiting) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await posted(of(name, "/ask"), asked, { "Idempotency-Key": key });
    } catch (error) {
      if (!AGAIN.has(error.status) || tried === TRIES) throw error;
      waiting(tried);
      await new Promise((done) => { setTimeout(done, 400 * 2 ** tried); });
    }
  }
}

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
