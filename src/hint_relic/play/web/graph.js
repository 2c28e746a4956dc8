// Nodes in the plane: a graph with its edges, or points; pointers are arrows.

const MANY = 24; // nodes or weights beyond which the drawing leaves text out

class GraphStage {
  constructor(host, side, hidden) {
    Object.assign(this, { host, side, hidden, truth: new Side(side.recording, false) });
    const { inputs, hints, edges } = side.recording;
    const nodes = hints.filter(isNode);
    this.nodeFields = nodes;
    this.pointers = nodes.filter((f) => POINTERS.has(f.kind) && !f.still);
    this.colour = nodes.find((f) => f.kind === "categorical" && f.classes === 3);
    const masks = nodes.filter((f) => f.kind === "mask");
    this.fill = this.colour ? undefined : masks[0];
    this.rings = masks.slice(this.colour ? 0 : 1, this.colour ? 2 : 3);
    this.marks = [...inputs, ...hints].filter((f) => f.kind === "mask_one");
    this.amount = side.recording.nodes <= MANY && nodes.find((f) => f.kind === "scalar");
    this.edgeMask = edges && hints.find((f) => f.kind === "mask" && isPair(f) && this.onEdges(f));
  }

  // Does a hint over pairs of nodes mark edges of the graph, and nothing else?
  onEdges(field) {
    const { nodes: n, edges } = this.side.recording;
    const known = new Set(edges.flatMap(([u, v]) => [u * n + v, v * n + u]));
    const last = field.truth.subarray((field.steps - 1) * field.width);
    return !field.still && last.every((value, k) => value <= 0 || known.has(k));
  }

  build(width) {
    const { nodes: n, edges = [] } = this.side.recording;
    const size = Math.min(width, n > MANY ? 560 : 420);
    const r = !this.side.recording.edges ? 8 : n <= 10 ? 15 : n <= MANY ? 11 : n <= 64 ? 8 : 5;
    this.r = r;
    const [across, down] = [r + (n > MANY ? 24 : 48), r + 22];
    const tall = size - 2 * (across - down);
    this.places = this.side.recording.at.map(([x, y]) => [
      across + x * (size - 2 * across),
      down + y * (tall - 2 * down),
    ]);
    this.centre = [size / 2, tall / 2];
    this.root = svg("svg", { class: "stage", width: size, height: tall, role: "img" });
    if (n > MANY) this.root.classList.add("many");
    this.edges = edges.map((edge) => this.edge(edge));
    this.extra = svg("path", { class: "edge wrong" }, this.root);
    this.arrows = this.pointers.map((field, k) =>
      Array.from({ length: n }, () => ({
        path: svg("path", { class: `pointer p${k % 3}` }, this.root),
        flaw: svg("path", { class: "cross" }, this.root),
      })),
    );
    this.nodes = this.places.map((at, i) => this.node(at, i));
    this.host.replaceChildren(this.root);
  }

  edge([u, v, weight]) {
    const { directed, edges } = this.side.recording;
    const [from, to] = [this.places[u], this.places[v]];
    const head = directed ? Math.min(6, this.r * 0.6) : 0;
    const { path, middle } = arrow(from, to, this.r, directed ? 0.06 : 0, head);
    const line = svg("path", { class: "edge", d: path }, this.root);
    if (weight !== undefined && edges.length <= MANY) {
      const shift = (a, b) => a + 0.38 * (b - a);
      const [x, y] = directed ? middle : [shift(from[0], to[0]), shift(from[1], to[1])];
      svg("text", { class: "quiet halo", x, y: y + 4, text: number(weight) }, this.root);
    }
    return { line, u, v };
  }

  node([x, y], i) {
    const { recording } = this.side;
    const fresh = recording.fresh.includes(i) ? " fresh" : "";
    const group = svg("g", { class: `node${fresh}` }, this.root);
    const rings = this.rings.map((_, k) =>
      svg("circle", { class: `ring r${k}`, cx: x, cy: y, r: this.r + 3.5 + 3.5 * k }, group),
    );
    const body = svg("circle", { class: "body", cx: x, cy: y, r: this.r }, group);
    svg("text", { x, y, text: this.r > 5 ? recording.names[i] : "" }, group);
    const marks = svg("text", this.outside(x, y), group);
    const at = this.r * 0.8;
    const flaw = svg("path", { class: "cross", d: cross(x + at, y - at, this.r > 8 ? 4 : 3) }, group);
    const title = svg("title", {}, group);
    return { rings, body, marks, flaw, title };
  }

  // Where the words beside a node stand: away from the centre.
  outside(x, y) {
    const [ox, oy] = [x - this.centre[0], y - this.centre[1]];
    const far = Math.hypot(ox, oy) || 1;
    const gap = this.r + 7 + 3.5 * this.rings.length;
    const anchor = ox > 0.4 * far ? "start" : ox < -0.4 * far ? "end" : "middle";
    const up = anchor === "middle" ? 6 * Math.sign(oy) : 0;
    return { x: x + (ox / far) * gap, y: y + (oy / far) * gap + up, class: `halo ${anchor}` };
  }

  show(t) {
    const { side, hidden } = this;
    const { names } = side.recording;
    const tags = names.map(() => []);
    for (const field of this.marks) {
      const i = side.values(field, t)[0];
      tags[i]?.push(field.name + (side.wrong(field, t, 0) ? "✕" : ""));
    }
    const values = new Map(this.nodeFields.map((field) => [field, side.values(field, t)]));
    this.nodes.forEach(({ rings, body, marks, flaw, title }, i) => {
      const filled = this.fill && values.get(this.fill)[i] > 0 ? "on" : "";
      const state = this.colour ? `c${values.get(this.colour)[i]}` : filled;
      set(body, "class", `body ${state}${tags[i].length ? " marked" : ""}`);
      rings.forEach((ring, k) => ring.classList.toggle("on", values.get(this.rings[k])[i] > 0));
      const amount = this.amount ? [number(values.get(this.amount)[i])] : [];
      setText(marks, [...tags[i], ...amount].join(" "));
      const flaws = this.nodeFields.filter((field) => side.wrong(field, t, i));
      show(flaw, flaws.length > 0);
      const truth = (field) => told(field, this.truth.values(field, t)[i], names);
      const said = flaws.map((field) => `${field.name} should be ${truth(field)}`);
      setText(title, [names[i], ...said].join("; "));
    });
    this.pointers.forEach((field, k) => {
      this.showPointer(field, k, values.get(field), t, hidden.has(field.name));
    });
    if (this.edgeMask) this.showEdges(t);
  }

  showPointer(field, k, targets, t, hidden) {
    this.arrows[k].forEach(({ path, flaw }, i) => {
      const visible = !hidden && targets[i] !== i;
      const wrong = visible && this.side.wrong(field, t, i);
      show(path, visible);
      show(flaw, wrong);
      if (!visible) return;
      const bend = 0.12 + 0.1 * k;
      const drawn = arrow(this.places[i], this.places[targets[i]], this.r, bend, Math.min(8, this.r));
      set(path, "d", drawn.path);
      set(path, "class", `pointer p${k % 3}${wrong ? " wrong" : ""}`);
      set(path, "opacity", 0.25 + 0.75 * this.side.sure(field, t, i));
      if (wrong) set(flaw, "d", cross(...drawn.middle, 4));
    });
  }

  showEdges(t) {
    const { side } = this;
    const n = side.recording.nodes;
    const values = side.values(this.edgeMask, t);
    const seen = new Set();
    for (const { line, u, v } of this.edges) {
      const pair = [u * n + v, v * n + u];
      pair.forEach((k) => seen.add(k));
      const wrong = pair.some((k) => side.wrong(this.edgeMask, t, k));
      set(line, "class", `edge${pair.some((k) => values[k] > 0) ? " on" : ""}${wrong ? " wrong" : ""}`);
    }
    let extra = ""; // marked, but no edge of the graph
    values.forEach((value, k) => {
      if (value <= 0 || seen.has(k) || Math.floor(k / n) === k % n) return;
      const [a, b] = [this.places[Math.floor(k / n)], this.places[k % n]];
      extra += `M${a[0]} ${a[1]}L${b[0]} ${b[1]}`;
    });
    set(this.extra, "d", extra);
  }

  legend() {
    const entries = this.pointers.map((field, k) => ({ field, look: `pointer p${k % 3}`, choice: true }));
    if (this.edgeMask) entries.push({ field: this.edgeMask, look: "edge on" });
    if (this.fill) entries.push({ field: this.fill, look: "node body on" });
    if (this.colour) entries.push({ field: this.colour, look: "node body c1" });
    this.rings.forEach((field, k) => entries.push({ field, look: `node ring on r${k}` }));
    if (this.amount) entries.push({ field: this.amount, words: "the number beside a node" });
    return entries;
  }
}
