// An array: bars or letters in their current order, and under them a lane for each pointer.

const LANE = 17;

// The order that predecessor pointers tell: each node right after the one it points at. A network
// may point in circles; such nodes come last.
function orderOf(pred) {
  const next = Array.from(pred, () => []);
  const order = [];
  const seen = new Set();
  pred.forEach((p, i) => p !== i && next[p]?.push(i));
  const follow = (start) => {
    const stack = [start];
    while (stack.length) {
      const i = stack.pop();
      if (seen.has(i)) continue;
      seen.add(i);
      order.push(i);
      stack.push(...next[i].slice().reverse());
    }
  };
  pred.forEach((p, i) => p === i && follow(i));
  pred.forEach((_, i) => follow(i));
  return order;
}

class ArrayStage {
  constructor(host, side, hidden) {
    Object.assign(this, { host, side, hidden });
    const { inputs, hints } = side.recording;
    this.order = hints.find((f) => f.name === "pred_h" && POINTERS.has(f.kind));
    this.arcs = hints.filter((f) => isNode(f) && POINTERS.has(f.kind) && f !== this.order);
    this.marks = hints.filter((f) => f.kind === "mask_one");
    this.masks = hints.filter((f) => isNode(f) && f.kind === "mask");
    this.letters = inputs.find((f) => isNode(f) && f.kind === "categorical");
    this.heights = inputs.find((f) => isNode(f) && f.kind === "scalar");
  }

  build(width) {
    const { recording } = this.side;
    const n = recording.nodes;
    const named = [...this.marks, ...this.masks].map((f) => f.name.length);
    this.left = named.length ? 12 + 6.2 * Math.max(...named) : 4;
    this.slot = Math.min(64, (width - this.left - 4) / n);
    this.arcRoom = this.arcs.length ? 54 : 0;
    this.tall = this.letters ? 26 : 120;
    this.floor = this.arcRoom + 22 + this.tall;
    const names = this.slot >= 15 ? 16 : 4;
    this.lanes = this.floor + names + 8;
    const rows = this.marks.length + this.masks.length;
    const used = Math.max(width, 1);
    const tall = this.lanes + rows * LANE + 4;
    this.root = svg("svg", { class: "stage", width: used, height: tall, role: "img" });
    if (this.slot < 15) this.root.classList.add("many");
    this.left = Math.max(this.left, (used - n * this.slot + this.left) / 2);
    this.paths = this.arcs.map((field, k) =>
      Array.from({ length: n }, () => svg("path", { class: `pointer p${k % 3}` }, this.root)),
    );
    this.bars = Array.from({ length: n }, (_, i) => this.bar(i));
    this.buildLanes(n);
    this.host.replaceChildren(this.root);
  }

  bar(i) {
    const { recording } = this.side;
    const fresh = recording.fresh.includes(i) ? " fresh" : "";
    const group = svg("g", { class: `slot${fresh}` }, this.root);
    const inner = Math.max(1, this.slot - Math.min(6, this.slot * 0.25));
    const x = (this.slot - inner) / 2;
    const all = this.heights?.truth ?? new Float64Array([1]);
    const low = Math.min(0, ...all);
    const scale = this.tall / (Math.max(0, ...all) - low || 1);
    const value = this.letters ? 1 : this.heights.truth[i];
    const zero = this.floor + (this.letters ? 0 : low * scale);
    const size = this.letters ? this.tall : Math.max(2, Math.abs(value) * scale);
    const y = value < 0 ? zero : zero - size;
    const rx = Math.min(3, inner / 4);
    const bar = svg("rect", { class: "bar", x, y, width: inner, height: size, rx }, group);
    const middle = this.slot / 2;
    const text = this.letters ? told(this.letters, this.letters.truth[i]) : number(value);
    if (this.letters && this.slot >= 9) {
      svg("text", { x: middle, y: this.floor - 9, text, class: "letter" }, group);
    } else if (!this.letters && this.slot >= 26) {
      svg("text", { x: middle, y: y - 5, text, class: "quiet" }, group);
    }
    if (this.slot >= 15) {
      svg("text", { x: middle, y: this.floor + 14, text: recording.names[i], class: "quiet" }, group);
    }
    const mark = cross(middle, this.floor - 7, Math.min(4, inner / 2));
    const flaw = svg("path", { class: "cross", d: mark }, group);
    svg("title", { text: `${recording.names[i]}: ${text}` }, group);
    return { group, bar, flaw };
  }

  buildLanes(n) {
    const y = (row) => this.lanes + row * LANE + LANE / 2;
    const right = this.left + n * this.slot;
    [...this.marks, ...this.masks].forEach((field, row) => {
      svg("text", { class: "lane-name", x: this.left - 8, y: y(row) + 4, text: field.name }, this.root);
      svg("line", { class: "lane", x1: this.left, x2: right, y1: y(row), y2: y(row) }, this.root);
    });
    this.markers = this.marks.map((field, row) => {
      const group = svg("g", { class: "marker" }, this.root);
      const ghost = svg("path", { class: "truth-ghost marker", d: "M0 -5L5 4H-5Z" }, this.root);
      return {
        y: y(row),
        group,
        ghost,
        mark: svg("path", { class: "mark", d: "M0 -5L5 4H-5Z" }, group),
        flaw: svg("path", { class: "cross", d: cross(0, 0, 4.5) }, group),
      };
    });
    const r = Math.min(4.5, this.slot * 0.36);
    this.dots = this.masks.map((field, k) =>
      Array.from({ length: n }, () => {
        const group = svg("g", { class: "marker" }, this.root);
        return {
          y: y(this.marks.length + k),
          group,
          dot: svg("circle", { class: "dot", r }, group),
          flaw: svg("path", { class: "cross", d: cross(0, 0, r + 1) }, group),
        };
      }),
    );
  }

  show(t) {
    const { side } = this;
    const n = side.recording.nodes;
    const order = this.order ? orderOf(side.values(this.order, t)) : [...Array(n).keys()];
    const x = new Float64Array(n);
    order.forEach((i, rank) => (x[i] = this.left + rank * this.slot));
    const middle = (i) => x[i] + this.slot / 2;
    const touched = new Set(this.marks.map((field) => side.values(field, t)[0]));
    this.bars.forEach(({ group, bar, flaw }, i) => {
      const wrong = Boolean(this.order) && side.wrong(this.order, t, i);
      move(group, x[i], 0);
      group.classList.toggle("touched", touched.has(i));
      group.classList.toggle("wrong", wrong);
      show(flaw, wrong);
      if (this.order) set(bar, "opacity", 0.25 + 0.75 * side.sure(this.order, t, i));
    });
    this.marks.forEach((field, k) => {
      const { y, group, ghost, mark, flaw } = this.markers[k];
      const wrong = side.wrong(field, t, 0);
      move(group, middle(side.values(field, t)[0]), y);
      set(mark, "opacity", 0.25 + 0.75 * side.sure(field, t, 0));
      show(mark, !wrong);
      show(flaw, wrong);
      show(ghost, wrong);
      if (wrong) move(ghost, middle(field.truth[Math.min(t, field.steps - 1)]), y);
    });
    this.masks.forEach((field, k) => {
      const values = side.values(field, t);
      this.dots[k].forEach(({ y, group, dot, flaw }, i) => {
        const wrong = side.wrong(field, t, i);
        move(group, middle(i), y);
        set(dot, "class", `dot${values[i] > 0 ? " on" : ""}${wrong ? " wrong" : ""}`);
        show(dot, values[i] >= 0);
        show(flaw, wrong);
      });
    });
    this.arcs.forEach((field, k) => this.showArcs(field, k, t, middle));
  }

  showArcs(field, k, t, middle) {
    const targets = this.side.values(field, t);
    const base = this.arcRoom + 4;
    this.paths[k].forEach((path, i) => {
      const visible = targets[i] !== i && !this.hidden.has(field.name);
      show(path, visible);
      if (!visible) return;
      const wrong = this.side.wrong(field, t, i);
      const from = middle(i);
      const to = middle(targets[i]);
      const top = base - Math.min(this.arcRoom + 8, 10 + Math.abs(from - to) * 0.35) * 1.3;
      const head = `M${to - 3} ${base - 6}L${to} ${base}L${to + 4} ${base - 5}`;
      set(path, "d", `M${from} ${base}C${from} ${top} ${to} ${top} ${to} ${base}${head}`);
      set(path, "class", `pointer p${k % 3}${wrong ? " wrong" : ""}`);
      set(path, "opacity", 0.25 + 0.75 * this.side.sure(field, t, i));
    });
  }

  legend() {
    return this.arcs.map((field, k) => ({ field, look: `pointer p${k % 3}`, choice: true }));
  }
}
