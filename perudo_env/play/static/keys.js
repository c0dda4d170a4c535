// Keys: digits and arrows choose, Enter bids or goes on, letters say the rest. They press the buttons that are on the screen.
import * as bidding from "./bidding.js";

const press = (selector) => document.querySelector(selector)?.click();

export function listen(texts) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.closest("input, select, textarea, summary, a, #log, #panel.open")) {
      if (event.key === "Escape") press("#close");
      return;
    }
    if (event.key === "Enter" && event.target.closest("button")) return; // it presses that one
    const does = {
      ArrowUp: () => bidding.stepQuantity(1, texts), ArrowDown: () => bidding.stepQuantity(-1, texts),
      ArrowRight: () => bidding.stepFace(1, texts), ArrowLeft: () => bidding.stepFace(-1, texts),
      Enter: () => press("#next:not([aria-disabled]), #bid"), "?": showKeys,
      d: () => press("#dudo"), c: () => press(".calza"), p: () => press("[data-act=pass]"), l: () => press("#least"), n: () => press("#next"),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (/^[1-9]$/.test(event.key)) press("#face-" + event.key);
    else if (does && (!event.key.startsWith("Arrow") || document.querySelector("[data-turn]"))) does();
    else return;
    event.preventDefault();
  });
}

function showKeys() {
  const menu = document.getElementById("menu");
  if (menu.offsetParent && menu.getAttribute("aria-expanded") === "false") menu.click();
  document.getElementById("keys").open = true;
  document.querySelector("#keys summary").focus();
}
