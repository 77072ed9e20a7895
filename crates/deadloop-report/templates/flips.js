// Which transcripts two cells judge otherwise: verdicts are boxes of cells, and a cell is in a box or not.
const WORDS = {
  found: "loops found", lost: "loops lost", cured: "wrong alarms gone", harmed: "new wrong alarms", other: "other changes",
};
const VERDICTS = JSON.parse(byId("verdict-data")?.textContent ?? "{}");
const isFalse = (verdict) => VERDICTS[verdict]?.wrong ?? false;
const flipKind = (before, after) => {
  if (isFalse(after) && !isFalse(before)) return "harmed";
  if (isFalse(before) && !isFalse(after)) return after === "hit" ? "found" : "cured";
  if (after === "hit") return "found";
  if (before === "hit") return "lost";
  return "other";
};

class Flips {
  constructor(regions, transcripts, plan) {
    Object.assign(this, { verdicts: regions.verdicts, blocks: regions.blocks, transcripts, plan, ready: new Map() });
  }
  // Whether this cell's boxes are in the page.
  knows(cell) { return Boolean(this.blockOf(cell)?.boxes); }
  blockOf(cell) {
    const number = this.plan ? this.plan[cell] : cell;
    let low = 0, high = this.blocks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.blocks[middle].first <= number) low = middle; else high = middle;
    }
    return this.blocks[low];
  }
  async read(block) {
    if (!this.ready.has(block)) {
      const numbers = new Numbers(await unpacked(block.boxes));
      const stride = 3 + 2 * block.shape.length, boxes = [];
      for (let transcript = 0; !numbers.done;) {
        transcript += numbers.next();
        boxes.push(transcript, numbers.next(), numbers.next());
        for (let axis = 3; axis < stride; axis += 2) { const low = numbers.next(); boxes.push(low, low + numbers.next()); }
      }
      const possible = block.possible ? await columnOf(block.possible) : null;
      this.ready.set(block, { boxes: Float64Array.from(boxes), stride, possible });
    }
    return this.ready.get(block);
  }
  // The verdict and the alarm (0: none) of every transcript in a cell.
  async judged(cell) {
    const block = this.blockOf(cell);
    const { boxes, stride, possible } = await this.read(block);
    const nth = (this.plan ? this.plan[cell] : cell) - block.first;
    let dense = possible ? possible[nth] : nth;
    const at = block.shape.map(() => 0);
    for (let axis = block.shape.length - 1; axis >= 0; axis--) { at[axis] = dense % block.shape[axis]; dense = Math.floor(dense / block.shape[axis]); }
    const verdict = this.transcripts.map(([, , quiet]) => quiet), alarm = new Float64Array(verdict.length);
    box: for (let start = 0; start < boxes.length; start += stride) {
      for (let axis = 0; axis < at.length; axis++) {
        if (at[axis] < boxes[start + 3 + 2 * axis] || at[axis] >= boxes[start + 4 + 2 * axis]) continue box;
      }
      verdict[boxes[start]] = this.verdicts[boxes[start + 1]];
      alarm[boxes[start]] = boxes[start + 2];
    }
    return { verdict, alarm };
  }
  async between(before, after) {
    const [was, is] = [await this.judged(before), await this.judged(after)];
    const flips = [];
    this.transcripts.forEach(([id, model, , onset], n) => {
      const same = was.verdict[n] === is.verdict[n] && (is.verdict[n] !== "unlabelled" || !was.alarm[n] === !is.alarm[n]);
      if (!same) flips.push({ id, model, onset, kind: flipKind(was.verdict[n], is.verdict[n]), before: [was.verdict[n], was.alarm[n]], after: [is.verdict[n], is.alarm[n]] });
    });
    const order = Object.keys(WORDS);
    return flips.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  }
}
