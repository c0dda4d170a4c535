// The reveal: while the cups are lifted one by one, which the style sheet does, a counter runs with the dice that match.
import { knock } from "./comfort.js";

const STEP = 400; // milliseconds between two cups, as in table.css
let running = [], counted = null;

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function stop() {
  running.forEach(clearTimeout);
  running = [];
  counted = null;
}

export function start() {
  stop();
  const seats = [...document.querySelectorAll(".revealed .seat")];
  if (!seats.length || isCalm()) return;
  counted = 0;
  const order = (seat) => Number(/lift-(\d)/.exec(seat.className)[1]);
  for (const seat of seats) {
    const matching = seat.querySelectorAll(".dice-of .die.match").length;
    running.push(setTimeout(() => {
      counted += matching;
      if (seat.querySelector(".dice-of .die")) knock();
      draw();
    }, STEP * order(seat) + 250));
  }
  running.push(setTimeout(() => { counted = null; draw(); }, STEP * seats.length + 300));
  draw();
}

// The page was patched, or the count moved on.
export function draw() {
  document.getElementById("felt")?.classList.toggle("counting", counted !== null);
  const tally = document.getElementById("tally");
  if (tally) tally.textContent = counted === null ? "" : counted;
}
