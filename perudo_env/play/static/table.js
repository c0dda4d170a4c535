// A table in the browser: shows what the server sends, sends what the player does. All texts come from the server.
"use strict";

const game = document.getElementById("game"), texts = game.dataset;
const parts = { table: document.getElementById("table"), controls: document.getElementById("controls") };
const notice = document.getElementById("notice");
const hint = document.getElementById("hint");
const log = document.querySelector("#log ol");
const REMEMBERED = 300;
// Milliseconds: between signs of life, until an answer is missed, until buttons that have just appeared may be pressed.
const BEAT = 10000, PATIENCE = 5000, SETTLE = 400;
let socket, retry = 0, retrying, patience, unanswered = false;
let at, key, settling, deadline, ticking;

function connect() {
  leave();
  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  socket = new WebSocket(scheme + location.host + texts.socket);
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onopen = () => {
    hear();
    if (retry) say(unanswered ? texts.doubtful : texts.back);
    retry = 0;
    unanswered = false;
  };
  socket.onclose = lose;
  patience = setTimeout(lose, PATIENCE);
}

function lose() {
  leave();
  say(unanswered ? texts.unanswered : texts.lost);
  // a table that is no more says so itself
  if (retry % 4 === 3) fetch(location.href).then((page) => { if (page.status === 404) location.reload(); }, () => {});
  retrying = setTimeout(connect, Math.min(5000, 300 * 2 ** retry++));
}

// A mute line may not notice for minutes that it is closed: nothing more is expected of it.
function leave() {
  clearTimeout(retrying);
  hear();
  if (!socket) return;
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
}

// The computer was asleep, off the network, or on another page: the line is looked at anew.
function wake() {
  if (socket.readyState === WebSocket.OPEN) send({ type: "beat" });
  else connect();
}

function send(message) {
  if (socket.readyState !== WebSocket.OPEN) return say(texts.unsent);
  socket.send(JSON.stringify(message));
  unanswered ||= message.type !== "beat";
  patience ??= setTimeout(lose, PATIENCE);
}

function hear() {
  clearTimeout(patience);
  patience = undefined;
}

function say(text) { notice.textContent = text; }

function receive(message) {
  if (message.type === "heard" || message.type === "error") {
    hear();
    unanswered = false;
  }
  if (message.type === "error") say(message.text);
  if (message.type === "hint" && message.at === at) hint.innerHTML = message.html;
  if (message.type === "state") show(message);
}

function show(state) {
  parts.table.innerHTML = state.table;
  tell(state.from, state.log);
  deadline = state.seconds === null ? null : Date.now() + 1000 * state.seconds;
  if (state.key !== key) {
    if (key !== undefined) settle();
    key = state.key;
    at = state.at;
    say("");
    hint.textContent = "";
    const mayFocus = document.activeElement === document.body || parts.controls.contains(document.activeElement);
    parts.controls.innerHTML = state.controls;
    prepare();
    if (mayFocus) parts.controls.querySelector("[data-focus]")?.focus({ preventScroll: true });
  }
  count();
}

// Who presses just now, or twice, means what stood there before.
function settle() {
  parts.controls.dataset.fresh = "";
  clearTimeout(settling);
  settling = setTimeout(() => { delete parts.controls.dataset.fresh; }, SETTLE);
}

function answer(message) {
  if ("fresh" in parts.controls.dataset) say(texts.soon);
  else if (!unanswered || socket.readyState !== WebSocket.OPEN) send({ ...message, at });
}

function tell(from, lines) {
  if (from === 0) log.textContent = "";
  for (const line of lines) {
    const item = document.createElement("li");
    item.textContent = line;
    log.append(item);
  }
  while (log.childElementCount > REMEMBERED) log.firstElementChild.remove();
  log.parentElement.scrollTop = log.parentElement.scrollHeight;
}

function count() {
  clearTimeout(ticking);
  for (const place of document.querySelectorAll("[data-countdown]")) {
    place.textContent = deadline === null ? "" : Math.max(0, Math.ceil((deadline - Date.now()) / 1000)) + " s";
  }
  if (deadline !== null) ticking = setTimeout(count, 250);
}

function prepare() {
  const invite = document.querySelector("[data-invite]");
  if (invite) invite.value = new URL(invite.dataset.invite, location.origin).href;
  if (document.getElementById("bid-form")) fit(true);
}

// The quantity follows the face: never less than the least, nor more than the most, that the rules allow on it.
function fit(toLeast) {
  const face = document.querySelector("input[name=face]:checked");
  const quantity = document.getElementById("quantity");
  const least = Number(face.dataset.least), most = Number(face.dataset.most);
  quantity.min = least;
  quantity.max = most;
  const wanted = Number(quantity.value);
  quantity.value = toLeast || wanted < least ? least : Math.min(wanted, most);
  document.getElementById("bid-form").classList.remove("asking");
}

document.addEventListener("change", (event) => { if (event.target.name === "face") fit(true); });

document.addEventListener("submit", (event) => {
  if (event.target.id !== "bid-form") return;
  event.preventDefault();
  const form = event.target, button = document.getElementById("bid");
  if ("confirm" in form.dataset && !form.classList.contains("asking") && !("fresh" in parts.controls.dataset)) {
    settle();
    form.classList.add("asking");
    button.dataset.label ??= button.textContent;
    button.textContent = texts.again;
    return;
  }
  const face = form.elements.face.value, quantity = form.elements.quantity.value;
  answer({ type: "act", seat: Number(form.dataset.seat), action: quantity + (face === "1" ? "P" : "x" + face) });
});

document.addEventListener("input", () => {
  const form = document.getElementById("bid-form"), button = document.getElementById("bid");
  if (form && button.dataset.label) {
    form.classList.remove("asking");
    button.textContent = button.dataset.label;
  }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.send) answer(JSON.parse(button.dataset.send));
  if (button.dataset.act) answer({ type: "act", seat: Number(button.dataset.seat), action: button.dataset.act });
  if (button.dataset.step) {
    const quantity = document.getElementById("quantity");
    quantity.value = Number(quantity.value) + Number(button.dataset.step);
    quantity.dispatchEvent(new Event("input", { bubbles: true }));
    fit(false);
  }
});

addEventListener("online", wake);
addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") wake(); });
setInterval(() => { if (socket.readyState === WebSocket.OPEN) send({ type: "beat" }); }, BEAT);
connect();
