// Talking to the server on this machine: JSON in, JSON out, errors as one sentence.

export class Refused extends Error {}

async function fetched(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The studio has stopped; start it again with: rainbow studio");
  }
  if (response.ok) return response;
  const found = await response.json().catch(() => ({}));
  const refused = new Refused(found.error ?? `The studio answered with status ${response.status}.`);
  refused.status = response.status;
  refused.field = found.field;
  throw refused;
}

export const get = async (path, signal) => (await fetched(path, { signal })).json();

const AGAIN = 400; // milliseconds after which a request that was dropped is made again

/** A page has one request of a kind at a time, so where it is dropped for a newer one, that is another tab's. */
export async function post(path, content, signal) {
  const body = JSON.stringify(content);
  const headers = { "Content-Type": "application/json" };
  for (;;) {
    try {
      return await (await fetched(path, { method: "POST", headers, body, signal })).json();
    } catch (error) {
      if (error.status !== 409) throw error;
    }
    await new Promise((resolve) => { setTimeout(resolve, AGAIN); });
    signal?.throwIfAborted();
  }
}

export async function postForText(path, content) {
  const body = JSON.stringify(content);
  const headers = { "Content-Type": "application/json" };
  return (await fetched(path, { method: "POST", headers, body })).text();
}

/** A file in, its world out; `instead` is a loaded world that it takes the place of. */
export async function upload(file, most, instead = null) {
  if (file.size > most) {
    throw new Refused(`The studio opens files of up to ${most.toLocaleString("en")} bytes, got ${file.name} with ${file.size.toLocaleString("en")}.`);
  }
  const path = `/api/load?name=${encodeURIComponent(file.name)}${instead ? `&instead=${instead}` : ""}`;
  const headers = { "Content-Type": "application/octet-stream" };
  return (await fetched(path, { method: "POST", headers, body: file })).json();
}
