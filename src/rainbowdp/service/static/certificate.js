// What an answer is, on paper: enough to have it verified against the ledger later.

import { save } from "../shared/saving.js";

export function certificate(dataset, entry, proves) {
  return {
    certificate: "rainbowdp answer",
    service: location.origin,
    dataset,
    question: entry.question,
    words: entry.words,
    answer: entry.answer,
    guarantee: entry.guarantee,
    mechanism: entry.mechanism,
    proves: proves ?? entry.mechanism?.proves ?? null,
    entry,
    head: entry.head,
    exported: new Date().toISOString(),
  };
}

export function exportCertificate(dataset, entry, proves) {
  const text = JSON.stringify(certificate(dataset, entry, proves), null, 2);
  return save(`${dataset}-answer-${entry.number}.json`, new Blob([text], { type: "application/json" }));
}
