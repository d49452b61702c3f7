// The connection of a page to its server. The page asks questions, which the server answers; the server also sends
// messages that nothing asked for.
//
// page to server    {"id": 7, "ask": "tables", "args": {...}}
// server to page    {"id": 7, "result": ...} or {"id": 7, "error": "sentence", "findings": [...]}
// server to page    {"push": "document", ...}, or a binary frame: uint32 length of a JSON header, header, payload

const FIRST_PAUSE = 300;      // until the first attempt to connect again [ms]
const LONGEST_PAUSE = 5000;   // between later attempts [ms]
const HOPELESS = 6;           // failed attempts after which the page says what to do
const LOST = "The connection to the program is lost. Connecting again.";
const GONE = "The program does not answer. Start it again, and open the address that it prints.";

/**
 * Connects to the server of this page, and again whenever the connection is lost.
 *
 * onPush(message) gets messages without a question, onBytes(header, payload as ArrayBuffer) binary frames, and
 * onState(state, sentence) every change of the connection, whose state is "open" or "lost". The result has
 * ask(name, args), whose promise is rejected with an Error that has a sentence and `findings`, and close().
 */
export function connect({ onPush = () => {}, onBytes = () => {}, onState = () => {} } = {}) {
  const line = {
    address: channelAddress(), onPush, onBytes, onState,
    socket: null, timer: 0, number: 0, failures: 0, known: false, ended: false,
    waiting: new Map(),   // questions without an answer, by number
    held: [],             // texts of questions that were asked before the first connection
  };
  openSocket(line);
  return { ask: (name, args = {}) => askServer(line, name, args), close: () => closeLine(line) };
}

/** The address of the channel beside the page: a page in a notebook's frame has a key in its path. */
function channelAddress() {
  const address = new URL("channel", document.baseURI);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = "";
  address.hash = "";
  return address;
}

/** Opens a WebSocket. */
function openSocket(line) {
  line.socket = new WebSocket(line.address);
  line.socket.binaryType = "arraybuffer";
  line.socket.addEventListener("open", () => greetServer(line));
  line.socket.addEventListener("message", (event) => receive(line, event.data));
  line.socket.addEventListener("close", (event) => loseSocket(line, event.reason));
}

/** Reports an open connection, and sends what was asked before. */
function greetServer(line) {
  const sentence = line.known ? "Connected again." : "Connected.", { held } = line;
  Object.assign(line, { known: true, failures: 0, held: [] });
  line.onState("open", sentence);
  for (const text of held) line.socket.send(text);
}

/** Passes on a message of the server. */
function receive(line, data) {
  if (typeof data !== "string") {
    const { header, payload } = readFrame(data);
    line.onBytes(header, payload);
    return;
  }
  const message = JSON.parse(data), question = line.waiting.get(message.id);
  line.waiting.delete(message.id);
  if (message.id === undefined) line.onPush(message);
  else if (message.error === undefined) question?.resolve(message.result);
  else question?.reject(refusal(message.error, message.findings));
}

/** Reports a lost connection, ends the questions that have no answer, and tries again after a pause. */
function loseSocket(line, reason) {
  if (line.ended) return;
  line.failures += 1;
  endQuestions(line, "The connection was lost before the answer came. Look whether it took effect.");
  line.onState("lost", reason || (line.failures < HOPELESS ? LOST : GONE));
  line.timer = setTimeout(() => openSocket(line), Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (line.failures - 1)));
}

/** Asks the server; a promise of its answer. */
function askServer(line, ask, args) {
  return new Promise((resolve, reject) => {
    const open = line.socket.readyState === WebSocket.OPEN, id = line.number += 1;
    if (!open && (line.known || line.ended)) {
      reject(refusal("The program is not connected. Nothing was sent."));
      return;
    }
    const text = JSON.stringify({ id, ask, args });
    line.waiting.set(id, { resolve, reject });
    if (open) line.socket.send(text); else line.held.push(text);
  });
}

/** Ends the connection for good. */
function closeLine(line) {
  line.ended = true;
  clearTimeout(line.timer);
  line.socket.close();
  endQuestions(line, "The page closed the connection.");
}

/** Rejects all questions that wait for an answer. */
function endQuestions(line, sentence) {
  for (const question of line.waiting.values()) question.reject(refusal(sentence));
  line.waiting.clear();
  line.held = [];
}

/** The header and the payload of a binary frame. */
export function readFrame(frame) {
  const length = new DataView(frame).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  return { header, payload: frame.slice(4 + length) };
}

/** An error with a sentence of the server and the findings that belong to it. */
function refusal(sentence, findings = []) {
  return Object.assign(new Error(sentence), { findings });
}
