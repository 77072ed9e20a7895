#!/usr/bin/env node
// A detector of your own, to copy: alarms when the same line stands N times in a row (params: {"lines": 5}).
//
// deadloop writes one JSON object a line to our stdin and reads our answers, one a line, from our stdout:
//
//   in   {"type":"hello","protocol":1,"params":{"lines":5}}              once
//   out  {"type":"ready","name":"same-line","version":"1"}
//   in   {"type":"start","transcript":"id","model":"some-model"}         then for each transcript:
//   in   {"type":"answer","text":"one piece of the stream"}              its events, in order, as they were recorded
//   in   {"type":"end"}
//   out  {"type":"verdict","transcript":"id","alarm":null}               exactly one answer a transcript
//
// Answer with an alarm as soon as you see the loop; deadloop then stops sending that transcript (what was already on
// its way must be ignored, until the next "start"). Anything for people goes to stderr: stdout is for the protocol.
// Watches one channel of one transcript.
class SameLine {
  line = ''; // the line that is being written
  previous = null;
  count = 0;
  chars = 0; // chars seen so far: positions count Unicode characters, where .length would count an emoji twice

  constructor(lines) {
    this.lines = lines; // how many equal lines make a loop
  }

  // The next piece of the stream, cut anywhere. Returns the position of the alarm, or null.
  feed(text) {
    for (const char of text) { // for…of goes by Unicode characters
      this.chars++;
      if (char !== '\n') {
        this.line += char;
        continue;
      }
      const line = this.line.trim();
      this.line = '';
      if (!line) continue;
      this.count = line === this.previous ? this.count + 1 : 1;
      this.previous = line;
      if (this.count >= this.lines) return this.chars;
    }
    return null;
  }
}

const answer = (message) => process.stdout.write(JSON.stringify(message) + '\n');

let lines = 5;
let transcript = null; // the id of the transcript that has no verdict yet
let channels;
let index;

function take(message) {
  if (message.type === 'hello') {
    lines = message.params.lines ?? lines;
    answer({ type: 'ready', name: 'same-line', version: '1' });
  } else if (message.type === 'start') {
    transcript = message.transcript;
    index = -1;
    channels = { reasoning: new SameLine(lines), answer: new SameLine(lines) }; // nothing is kept from the last one
  } else if (transcript === null) {
    // it has its verdict already
  } else if (message.type === 'end') {
    answer({ type: 'verdict', transcript, alarm: null });
    transcript = null;
  } else {
    index++; // every event counts, from 0, tool calls too
    const channel = channels[message.type];
    const at = channel ? channel.feed(message.text) : null;
    if (at !== null) {
      answer({ type: 'verdict', transcript, alarm: {
        event: index, // the event in which it fired
        at, // chars of this channel read by then
        kind: 'paragraph', // or short-sequence, ordered-list, near-repeat, …; when in doubt: other
        detail: `${lines} times ${JSON.stringify(channel.previous)}`,
      } });
      transcript = null;
    }
  }
}

// Lines end at \n alone: node:readline would also split at U+2028, which JSON allows inside a string.
let rest = '';
process.stdin.setEncoding('utf8');
for await (const data of process.stdin) {
  const raws = (rest + data).split('\n');
  rest = raws.pop();
  for (const raw of raws) take(JSON.parse(raw));
}
