// Small helpers to draw with. Text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

function attach(element, attributes, parent) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  if (parent) parent.append(element);
  return element;
}

const svg = (tag, attributes, parent) =>
  attach(document.createElementNS(SVG, tag), attributes, parent);
const make = (tag, attributes, parent) => attach(document.createElement(tag), attributes, parent);

// Writes only what changed: most of a drawing stays as it is from step to step.
function set(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show(element, visible) {
  set(element, "visibility", visible ? "visible" : "hidden");
}

const move = (element, x, y) => {
  element.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
};

const cross = (x, y, r) =>
  `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`;

function number(x) {
  if (Number.isNaN(x)) return "?";
  const size = Math.abs(x);
  if (size >= 1e5) return x.toExponential(1);
  const text = x.toFixed(Math.abs(x - Math.round(x)) < 5e-4 || size >= 100 ? 0 : size < 10 ? 2 : 1);
  return Number(text) === 0 ? "0" : text;
}

const LETTERS = "ACGT";

// A value in words: a node by its name, a mask by a dot, a class by its number.
function told(field, value, names) {
  if (field.kind === "scalar") return number(value);
  if (value < 0) return "–";
  if (field.kind === "mask") return value ? "●" : "·";
  if (field.kind === "categorical") {
    return field.name === "key" && field.classes === 4 ? LETTERS[value] : String(value);
  }
  return names[value];
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// An arrow from a to b that stops short of both ends by r, bent to its left.
function arrow([ax, ay], [bx, by], r, bend, head) {
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const ux = (bx - ax) / length;
  const uy = (by - ay) / length;
  const cx = (ax + bx) / 2 + uy * bend * length;
  const cy = (ay + by) / 2 - ux * bend * length;
  const unit = (x, y) => [x / (Math.hypot(x, y) || 1), y / (Math.hypot(x, y) || 1)];
  const [sx, sy] = unit(cx - ax, cy - ay);
  const [ex, ey] = unit(bx - cx, by - cy);
  const from = [ax + sx * r, ay + sy * r];
  const to = [bx - ex * (r + 1), by - ey * (r + 1)];
  const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const wing = (side) =>
    at(to[0] - head * (ex + side * ey * 0.6), to[1] - head * (ey - side * ex * 0.6));
  const path = `M${at(...from)}Q${at(cx, cy)} ${at(...to)}`;
  const tip = head ? `M${wing(1)}L${at(...to)}L${wing(-1)}` : "";
  const middle = [(ax + 2 * cx + bx) / 4, (ay + 2 * cy + by) / 4];
  return { path: path + tip, middle };
}
