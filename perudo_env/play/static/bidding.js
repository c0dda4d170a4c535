// The choice of a bid: a face and a quantity, of which the server has said what may be bid, and why not. No rule is known here.
let chosen = { face: null, quantity: null }, first = null;

const form = () => document.getElementById("bid-form");
const faces = () => [...document.querySelectorAll(".face-choice")];
const picked = () => document.getElementById("face-" + chosen.face);
const span = (face) => [Number(face.dataset.least), Number(face.dataset.most)];

export function forget() {
  chosen = { face: null, quantity: null };
  first = null;
}

// Why a quantity may not be bid on a face: the server's words; empty if it may.
function against(face, quantity) {
  const [least, most] = span(face);
  if (face.dataset.off || quantity === null) return face.dataset.off;
  return quantity < least ? face.dataset.low : quantity > most ? face.dataset.high : "";
}

// The quantities that can be chosen now: those of the face, or of all of them.
function range() {
  if (picked()) return span(picked());
  const { least, most } = document.getElementById("choose").dataset;
  return [Number(least), Number(most)];
}

function write(node, text) { if (node.textContent !== String(text)) node.textContent = text; }

// Off, with a reason that is told when it is touched; or on.
export function turn(button, why) {
  if (why) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
  button.dataset.why = why || "";
}

export function draw(texts) {
  if (!document.getElementById("choose")) return;
  const [least, most] = range(), chips = [...document.querySelectorAll("[data-chip]")];
  first = Math.max(least, Math.min(first ?? least, Math.max(least, most - chips.length + 1)));
  const closed = document.querySelector(".face-choice:not([data-off=''])") && faces().every((face) => face.dataset.off);
  for (const face of faces()) {
    const why = against(face, chosen.face === null ? chosen.quantity : null);
    face.setAttribute("aria-pressed", String(face === picked()));
    turn(face, why);
    const [low, high] = span(face), fits = chosen.quantity >= low && chosen.quantity <= high;
    write(face.querySelector("[data-quantity-of]"), face.dataset.off ? "" : (fits && chosen.quantity ? chosen.quantity : low) + "×");
  }
  chips.forEach((chip, i) => {
    const quantity = first + i;
    write(chip, closed ? "·" : quantity);
    chip.dataset.quantity = quantity;
    chip.setAttribute("aria-pressed", String(!closed && quantity === chosen.quantity));
    turn(chip, closed ? faces()[0].dataset.off : quantity > most ? (picked() ?? faces().find((face) => !face.dataset.off)).dataset.high : "");
  });
  const [back, on] = document.querySelectorAll("[data-shift]");
  turn(back, closed ? faces()[0].dataset.off : first > least ? "" : " ");
  turn(on, closed ? faces()[0].dataset.off : first + chips.length <= most ? "" : " ");
  drawBid(texts);
}

function drawBid(texts) {
  const bid = document.getElementById("bid"), place = document.getElementById("chosen");
  if (!bid) return;
  turn(bid, bid.dataset.off || (action() ? "" : texts.choose));
  place.textContent = "";
  if (!action()) return;
  const die = picked().querySelector(".die").cloneNode(true);
  place.append(form().classList.contains("asking") ? texts.again + " " : "", chosen.quantity + "×", die);
}

// What would be bid, as the server reads it; empty until a face and a quantity are chosen.
export function action() {
  return picked() && chosen.quantity ? chosen.quantity + picked().dataset.token : "";
}

export function take(face, quantity, texts) {
  chosen = { face, quantity };
  change(texts);
}

export function chooseFace(button, texts) {
  if (button === picked()) chosen.face = null;
  else {
    chosen.face = button.dataset.face;
    const [least, most] = span(button);
    if (!chosen.quantity || chosen.quantity < least || chosen.quantity > most) chosen.quantity = least;
    first = null;
    first = chosen.quantity > least + 4 ? chosen.quantity - 2 : least;
  }
  change(texts);
}

export function chooseQuantity(quantity, texts) {
  const [least, most] = range();
  chosen.quantity = chosen.face === null && quantity === chosen.quantity ? null : Math.max(least, Math.min(most, quantity));
  if (chosen.quantity !== null && (chosen.quantity < first || chosen.quantity > first + 4)) first = chosen.quantity - 2;
  change(texts);
}

export function stepQuantity(by, texts) {
  chooseQuantity((chosen.quantity ?? range()[0] - Math.max(0, by)) + by, texts);
}

export function stepFace(by, texts) {
  const open = faces().filter((face) => !face.dataset.off), at = open.indexOf(picked());
  if (open.length) chooseFace(open[at < 0 ? (by > 0 ? 0 : open.length - 1) : (at + by + open.length) % open.length], texts);
}

export function shift(by, texts) {
  first += 5 * by;
  draw(texts);
}

function change(texts) {
  form().classList.remove("asking");
  draw(texts);
}
