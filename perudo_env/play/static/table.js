// A table in the browser: shows what the server sends, sends what the player does. All texts come from the server.
import * as bidding from "./bidding.js";
import * as comfort from "./comfort.js";
import * as keys from "./keys.js";
import { Line } from "./line.js";
import { patch } from "./patch.js";
import * as reveal from "./reveal.js";

const texts = document.getElementById("game").dataset;
const place = Object.fromEntries(["table", "controls", "proof", "notice", "hint", "panel", "menu"].map((id) => [id, document.getElementById(id)]));
const log = document.querySelector("#log ol");
const REMEMBERED = 300;
// Milliseconds: until buttons that have just appeared may be pressed, and until a notice goes.
const SETTLE = 400, NOTICE = 7000;
let state, settling, quiet, deadline, ticking, sent;
let drawn = Promise.resolve(); // all that is to be painted before the next state is shown

function say(text, stays = true) {
  clearTimeout(quiet);
  quiet = undefined;
  place.notice.textContent = text;
  if (text && !stays) quiet = setTimeout(() => say(""), NOTICE);
}

function receive(message) {
  if (message.type === "open" && comfort.isOn("odds")) line.send({ type: "odds", on: true });
  if (message.type === "error") {
    say(message.text, false);
    release();
  }
  if (message.type === "hint" && message.at === state?.at) place.hint.innerHTML = message.html;
  if (message.type === "state") drawn = drawn.then(() => show(message)).catch(reportError);
}

// The next frame, or a moment where a hidden page has none.
const painted = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
  setTimeout(done, 100);
});

function show(next) {
  const before = state, isNew = before?.key !== next.key;
  state = next;
  deadline = state.seconds === null ? null : Date.now() + 1000 * state.seconds;
  if (isNew) {
    if (before) settle();
    say("");
    place.hint.textContent = "";
    bidding.forget();
    release();
  }
  const hadFocus = place.controls.contains(document.activeElement);
  const asking = document.getElementById("bid-form")?.classList.contains("asking") && !isNew;
  patch(place.table, state.table);
  patch(place.controls, state.controls);
  patch(place.proof, state.proof);
  // the button that had the focus is no more: its place is near
  if (hadFocus && document.activeElement === document.body) document.getElementById("told").focus({ preventScroll: true });
  document.getElementById("bid-form")?.classList.toggle("asking", asking);
  document.title = state.title;
  texts.at = state.at;
  tell(state.from, state.log);
  const invite = document.querySelector("[data-invite]");
  if (invite) invite.value = new URL(invite.dataset.invite, location.origin).href;
  redraw();
  if (before?.at !== state.at) happen(before);
  count();
}

// What the server does not know of is put on again after each patch.
function redraw() {
  bidding.draw(texts);
  reveal.draw();
  if (sent) document.getElementById(sent)?.classList.add("sent");
}

function happen(before) {
  if (document.querySelector(".revealed")) reveal.start();
  else reveal.stop();
  reveal.draw();
  if (document.getElementById("again") && before) comfort.fanfare();
  else if (state.is_asked && before) comfort.tellTurn(state.title);
}

// Who presses just now, or twice, means what stood there before.
function settle() {
  place.controls.dataset.fresh = "";
  clearTimeout(settling);
  settling = setTimeout(() => { delete place.controls.dataset.fresh; }, SETTLE);
}

// The press is seen at once, whatever the line does.
function answer(message, button) {
  if ("fresh" in place.controls.dataset) return say(texts.soon, false);
  if (line.unanswered && line.isOpen) return;
  line.send({ ...message, at: state.at });
  if (!line.isOpen) return;
  sent = button.id;
  button.classList.add("sent");
  drawn = drawn.then(painted); // an answer that comes at once would be painted with it, and later
}

function release() {
  sent = undefined;
  document.querySelectorAll(".sent").forEach((button) => button.classList.remove("sent"));
}

function tell(from, lines) {
  if (from === 0) log.textContent = "";
  for (const text of lines) {
    const item = document.createElement("li");
    item.textContent = text;
    log.append(item);
  }
  while (log.childElementCount > REMEMBERED) log.firstElementChild.remove();
  if (lines.length) log.parentElement.scrollTop = log.parentElement.scrollHeight;
}

// The seconds that are left, in digits and as a ring around the bid.
function count() {
  clearTimeout(ticking);
  const left = deadline === null ? null : Math.max(0, (deadline - Date.now()) / 1000);
  for (const where of document.querySelectorAll("[data-countdown]")) where.textContent = left === null ? "" : Math.ceil(left) + " s";
  document.getElementById("clock")?.style.setProperty("--left", state.window && left !== null ? left / state.window : 1);
  if (left !== null) ticking = setTimeout(count, state.window ? 100 : 250);
}

function bid(button) {
  const form = document.getElementById("bid-form");
  if ("confirm" in form.dataset && !form.classList.contains("asking") && !("fresh" in place.controls.dataset)) {
    settle();
    form.classList.add("asking");
    return bidding.draw(texts);
  }
  answer({ type: "act", seat: Number(form.dataset.seat), action: bidding.action() }, button);
}

// With a table that asks once more, the least raise is chosen first, and made by the next press.
function least(button) {
  const form = document.getElementById("bid-form");
  if (!("confirm" in form.dataset)) return answer({ type: "act", seat: Number(form.dataset.seat), action: button.dataset.act }, button);
  if ("fresh" in place.controls.dataset) return say(texts.soon, false);
  settle();
  bidding.take(button.dataset.leastFace, Number(button.dataset.leastQuantity), texts);
  form.classList.add("asking");
  bidding.draw(texts);
}

function press(button) {
  const seat = Number(button.dataset.seat ?? document.getElementById("bid-form")?.dataset.seat);
  if (quiet) say("");
  if (button.getAttribute("aria-disabled") === "true") say(button.dataset.why.trim(), false);
  else if (button.id === "bid") bid(button);
  else if (button.id === "least") least(button);
  else if (button.dataset.face) bidding.chooseFace(button, texts);
  else if (button.dataset.chip) bidding.chooseQuantity(Number(button.dataset.quantity), texts);
  else if (button.dataset.shift) bidding.shift(Number(button.dataset.shift), texts);
  else if (button.dataset.send) answer(JSON.parse(button.dataset.send), button);
  else if (button.dataset.act) answer({ type: "act", seat, action: button.dataset.act }, button);
  else if (button.dataset.switch) change(button.dataset.switch, !comfort.isOn(button.dataset.switch));
  else if (button.id === "ask-hint") ask(seat);
  else if (button.id === "menu" || button.id === "close") fold(button.id === "menu" && !place.panel.classList.contains("open"));
}

// Help shows by itself when it comes; asked again, it goes.
function ask(seat) {
  if (place.hint.textContent.trim()) place.hint.textContent = "";
  else line.send({ type: "hint", seat: Number.isNaN(seat) ? 0 : seat, at: state.at });
}

function fold(open) {
  place.panel.classList.toggle("open", open);
  place.menu.setAttribute("aria-expanded", String(open));
  if (open) document.getElementById("close").focus();
  else if (place.panel.contains(document.activeElement)) place.menu.focus();
  log.parentElement.scrollTop = log.parentElement.scrollHeight;
}

async function change(name, on) {
  await comfort.set(name, on);
  if (name === "odds") line.send({ type: "odds", on });
}

document.addEventListener("submit", (event) => { if (event.target.id === "bid-form") event.preventDefault(); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) press(button);
});
document.addEventListener("change", (event) => { if (event.target.dataset.setting) change(event.target.dataset.setting, event.target.checked); });

keys.listen(texts);
comfort.show();
const line = new Line(texts, say, receive);
