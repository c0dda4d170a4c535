// A table in the browser: shows what the server sends, sends what the player does. All texts come from the server.
"use strict";

const game = document.getElementById("game");
const parts = { table: document.getElementById("table"), controls: document.getElementById("controls") };
const notice = document.getElementById("notice");
const hint = document.getElementById("hint");
const log = document.querySelector("#log ol");
const REMEMBERED = 300;
let socket, key, deadline, retry = 0, ticking;

function connect() {
  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  socket = new WebSocket(scheme + location.host + game.dataset.socket);
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onopen = () => { if (retry) say(game.dataset.back); retry = 0; };
  socket.onclose = () => {
    say(game.dataset.lost);
    setTimeout(connect, Math.min(5000, 300 * 2 ** retry++));
  };
}

function send(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function say(text) { notice.textContent = text; }

function receive(message) {
  if (message.type === "error") say(message.text);
  if (message.type === "hint") hint.innerHTML = message.html;
  if (message.type === "state") show(message);
}

function show(state) {
  parts.table.innerHTML = state.table;
  tell(state.from, state.log);
  deadline = state.seconds === null ? null : Date.now() + 1000 * state.seconds;
  if (state.key !== key) {
    key = state.key;
    say("");
    hint.textContent = "";
    const mayFocus = document.activeElement === document.body || parts.controls.contains(document.activeElement);
    parts.controls.innerHTML = state.controls;
    prepare();
    if (mayFocus) parts.controls.querySelector("[data-focus]")?.focus({ preventScroll: true });
  }
  count();
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
  if (invite) invite.value = location.origin + invite.dataset.invite;
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
  if ("confirm" in form.dataset && !form.classList.contains("asking")) {
    form.classList.add("asking");
    button.dataset.label ??= button.textContent;
    button.textContent = game.dataset.again;
    return;
  }
  const face = form.elements.face.value, quantity = form.elements.quantity.value;
  send({ type: "act", seat: Number(form.dataset.seat), action: quantity + (face === "1" ? "P" : "x" + face) });
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
  if (button.dataset.send) send(JSON.parse(button.dataset.send));
  if (button.dataset.act) send({ type: "act", seat: Number(button.dataset.seat), action: button.dataset.act });
  if (button.dataset.step) {
    const quantity = document.getElementById("quantity");
    quantity.value = Number(quantity.value) + Number(button.dataset.step);
    quantity.dispatchEvent(new Event("input", { bubbles: true }));
    fit(false);
  }
});

connect();
