// What people take with them: the figure, the mechanism file, the lines of Python.

import { postForText } from "./api.js";
import { find } from "/shared/dom.js";
import { save } from "/shared/saving.js";
import { figure } from "./figure.js";

export function startExports(current, trouble) {
  const say = (text) => { find("taken").textContent = text; };
  const guarded = (take) => async () => {
    try {
      say(await take(current()));
    } catch (error) {
      say("");
      trouble(error.message);
    }
  };
  find("save-svg").addEventListener("click", guarded(saveSvg));
  find("save-png").addEventListener("click", guarded(savePng));
  find("save-file").addEventListener("click", guarded(saveFile));
  find("save-graph").addEventListener("click", guarded(saveGraph));
  find("copy").addEventListener("click", guarded(copy));
}

export function showRecipe(answer, writable, text) {
  find("recipe").textContent = answer.recipe;
  find("save-graph").hidden = !text;
  const drawn = Boolean(answer.rows);
  find("save-svg").disabled = find("save-png").disabled = !drawn;
  find("save-file").disabled = !drawn || !writable;
  find("save-file").title = writable ? "" : "Only mechanisms with an exact proof can be saved to a file.";
}

const named = (state, ending) => {
  const base = state.world.title.toLowerCase().replace(/\.[a-z]+$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${base || "world"}-${state.settings.mechanism.replaceAll(" ", "-")}.${ending}`;
};

const asText = (state) => new XMLSerializer().serializeToString(figure(state));

async function saveSvg(state) {
  return save(named(state, "svg"), new Blob([asText(state)], { type: "image/svg+xml" }));
}

async function savePng(state) {
  const drawn = figure(state);
  const [wide, high] = [Number(drawn.getAttribute("width")), Number(drawn.getAttribute("height"))];
  const image = new Image(wide, high);
  const address = URL.createObjectURL(new Blob([asText(state)], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(2, 8000 / Math.max(wide, high));
  Object.assign(canvas, { width: wide * scale, height: high * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  return save(named(state, "png"), blob);
}

async function saveFile(state) {
  const text = await postForText("/api/file", { world: state.world.name, ...state.settings });
  return save(named(state, "json"), new Blob([text], { type: "application/json" }));
}

/** The lines of text that the studio and `open_world` open. */
async function saveGraph(state) {
  const { title, text } = state.world;
  const name = /\.txt$/i.test(title) ? title : named(state, "txt").replace(`-${state.settings.mechanism.replaceAll(" ", "-")}`, "");
  return save(name, new Blob([text], { type: "text/plain" }));
}

async function copy(state) {
  try {
    await navigator.clipboard.writeText(state.answer.recipe);
    return "Copied";
  } catch {
    getSelection().selectAllChildren(find("recipe"));
    return "Selected: press Ctrl+C";
  }
}
