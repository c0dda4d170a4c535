// The line to the server: a WebSocket that is opened again when it is lost, and tells when a press got no answer.
// Milliseconds: between signs of life, until an answer is missed.
const BEAT = 10000, PATIENCE = 5000;
// What is sent without a press: no answer to it is awaited before the next press.
const UNASKED = ["beat", "odds"];

export class Line {
  // `texts` holds the address and what is said of the line; `say` shows a text, `receive` gets every message.
  constructor(texts, say, receive) {
    Object.assign(this, { texts, say, receive, retry: 0, unanswered: false });
    addEventListener("online", () => this.wake());
    addEventListener("pageshow", (event) => { if (event.persisted) this.wake(); });
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") this.wake(); });
    setInterval(() => { if (this.isOpen) this.send({ type: "beat" }); }, BEAT);
    this.open();
  }

  get isOpen() { return this.socket.readyState === WebSocket.OPEN; }

  open() {
    this.leave();
    const scheme = location.protocol === "https:" ? "wss://" : "ws://";
    this.socket = new WebSocket(scheme + location.host + this.texts.socket);
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onopen = () => {
      this.rest();
      if (this.retry) this.say(this.unanswered ? this.texts.doubtful : this.texts.back);
      this.retry = 0;
      this.unanswered = false;
      this.receive({ type: "open" });
    };
    this.socket.onclose = () => this.lose();
    this.patience = setTimeout(() => this.lose(), PATIENCE);
  }

  lose() {
    this.leave();
    this.say(this.unanswered ? this.texts.unanswered : this.texts.lost);
    // a table that is no more says so itself
    if (this.retry % 4 === 3) fetch(location.href).then((page) => { if (page.status === 404) location.reload(); }, () => {});
    this.retrying = setTimeout(() => this.open(), Math.min(5000, 300 * 2 ** this.retry++));
  }

  // A mute line may not notice for minutes that it is closed: nothing more is expected of it.
  leave() {
    clearTimeout(this.retrying);
    this.rest();
    if (!this.socket) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
  }

  // The computer was asleep, off the network, or on another page: the line is looked at anew.
  wake() {
    if (this.isOpen) this.send({ type: "beat" });
    else this.open();
  }

  send(message) {
    if (!this.isOpen) return this.say(this.texts.unsent);
    this.socket.send(JSON.stringify(message));
    this.unanswered ||= !UNASKED.includes(message.type);
    this.patience ??= setTimeout(() => this.lose(), PATIENCE);
  }

  hear(message) {
    if (message.type === "heard" || message.type === "error") {
      this.rest();
      this.unanswered = false;
    }
    this.receive(message);
  }

  rest() {
    clearTimeout(this.patience);
    this.patience = undefined;
  }
}
