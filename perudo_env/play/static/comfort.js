// What each browser may switch on for itself: sound, vibration, notices of one's turn, odds. All are off until then.
const NAMES = ["sound", "vibration", "notify", "odds"];
let audio;

export function isOn(name) {
  try { return localStorage.getItem("perudo-" + name) === "on"; } catch { return false; }
}

export async function set(name, on) {
  if (name === "notify" && on && (!("Notification" in window) || (await Notification.requestPermission()) !== "granted")) on = false;
  try { localStorage.setItem("perudo-" + name, on ? "on" : "off"); } catch { /* it lasts as long as the page */ }
  show();
  if (name === "sound" && on) play(660);
}

export function show() {
  for (const name of NAMES) {
    for (const box of document.querySelectorAll(`[data-setting=${name}]`)) box.checked = isOn(name);
    for (const button of document.querySelectorAll(`[data-switch=${name}]`)) button.setAttribute("aria-pressed", String(isOn(name)));
  }
}

function play(...pitches) {
  if (!isOn("sound") || !("AudioContext" in window)) return;
  audio ??= new AudioContext();
  pitches.forEach((pitch, i) => {
    const tone = audio.createOscillator(), volume = audio.createGain(), at = audio.currentTime + 0.13 * i;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.12, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.2);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.22);
  });
}

function buzz(pattern) { if (isOn("vibration")) navigator.vibrate?.(pattern); }

export function tellTurn(title) {
  play(660, 880);
  buzz(60);
  if (document.hidden && isOn("notify") && "Notification" in window && Notification.permission === "granted") {
    const notice = new Notification(title, { icon: "/static/icon-192.png", tag: "perudo" });
    notice.onclick = () => { focus(); notice.close(); };
  }
}

export function knock() { play(180); buzz(15); }

export function fanfare() { play(523, 659, 784, 1047); buzz([60, 40, 120]); }
