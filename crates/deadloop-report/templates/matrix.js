// Every transcript through every guard: a row opens the transcript.
const SHOWN = 60;

class Matrix {
  async open(data) {
    this.data = data;
    this.rows = await unpacked(data.rows);
    this.shown = SHOWN;
    const { guards, differing } = data;
    byId("matrix-head").append(...["transcript", "model", "loop"].map((name) => element("th", { scope: "col", class: "still" }, name)),
      ...guards.map((name) => element("th", { scope: "col", class: "still sign" }, visibleText(name))));
    byId("matrix-differ").checked = differing > 0;
    for (const id of ["matrix-differ", "matrix-kind"]) byId(id).addEventListener("change", () => { this.shown = SHOWN; this.show(); });
    byId("matrix-text").addEventListener("input", () => { this.shown = SHOWN; this.show(); });
    byId("matrix-more").addEventListener("click", () => { this.shown += 10 * SHOWN; this.show(); });
    only.watch(() => { this.shown = SHOWN; this.show(); });
    byId("matrix").hidden = false;
    this.show();
  }
  verdict(letter) { return this.data.verdicts[letter.charCodeAt(0) - 97]; }
  // Loops, healthy text, or both.
  isKind(letters) {
    const wanted = byId("matrix-kind").value;
    if (wanted === "") return true;
    const verdicts = [...letters].map((letter) => this.verdict(letter));
    return wanted === "cut" ? verdicts.some((one) => one?.wrong) : verdicts.some((one) => one?.looping);
  }
  show() {
    const { data: { models, kinds, differing, left_out: out } } = this;
    const text = byId("matrix-text").value.trim().toLowerCase(), differ = byId("matrix-differ").checked;
    const list = this.rows.filter(([id, model, , , letters], n) => (!differ || n < differing) && (only.model === null || visibleText(models[model]) === only.model)
      && (text === "" || id.toLowerCase().includes(text)) && this.isKind(letters));
    const sign = (letter, alarm) => {
      const verdict = this.verdict(letter);
      const cut = verdict?.name === "unlabelled" && alarm ? " cut" : "";
      const { sign: mark, words } = cut ? { sign: "✂", words: "cut, no label" } : verdict ?? { sign: "", words: "not replayed" };
      const told = alarm ? `${words}, at ${count(alarm - 1)}` : words;
      return element("td", { class: `sign ${verdict?.name ?? ""}${cut}`, title: told }, element("span", { "aria-hidden": "true" }, mark), element("span", { class: "aside" }, told));
    };
    const row = ([id, model, kind, onset, letters, alarms]) => {
      const name = element("td", {}), loop = kinds[kind] || (onset === null ? "–" : "loop");
      name.append(button(visibleText(id), () => openTranscript(name, id)));
      name.firstChild.className = "named";
      return element("tr", { "data-id": id }, name, element("td", {}, visibleText(models[model])), element("td", {}, onset === null ? loop : `${loop} from ${count(onset)}`),
        ...[...letters].map((letter, n) => sign(letter, alarms[n])));
    };
    byId("matrix-rows").replaceChildren(...list.slice(0, this.shown).map(row));
    byId("matrix-told").textContent = `${count(list.length)} of ${count(this.rows.length)} transcripts${out ? `; ${count(out)} more, on which the guards agree, are only in outcomes.parquet` : ""}`;
    const more = byId("matrix-more");
    more.hidden = list.length <= this.shown;
    more.textContent = `${count(list.length - this.shown)} more`;
  }
}
const matrixData = byId("matrix-data");
if (matrixData && typeof DecompressionStream !== "undefined") new Matrix().open(JSON.parse(matrixData.textContent));
