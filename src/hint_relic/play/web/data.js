// Recordings out of the page's own data; undoes what pack.py does.

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// One array, steps first. Typed arrays of bytes wrap around, as those that were packed did.
function restore(bytes, part, steps, base) {
  const { at, width, form } = part;
  const size = steps * width;
  if (form === "number") {
    const levels = new Uint16Array(size);
    const values = new Float32Array(size);
    for (let k = 0; k < size; k++) {
      levels[k] = bytes[at + k] + 256 * bytes[at + size + k] + (k < width ? 0 : levels[k - width]);
      values[k] = levels[k] === 65535 ? NaN : part.low + part.scale * levels[k];
    }
    return values;
  }
  const values = new Uint8Array(size);
  for (let k = 0; k < size; k++) values[k] = bytes[at + k] + (k < width ? 0 : values[k - width]);
  if (base) for (let k = 0; k < size; k++) values[k] += base[k];
  return form === "signed" ? new Int8Array(values.buffer) : values;
}

function unpackField(bytes, field, steps) {
  const truth = restore(bytes, field.truth, steps);
  return {
    ...field,
    steps,
    width: field.truth.width,
    truth,
    guess: field.guess && restore(bytes, field.guess, steps, truth),
    sure: field.sure && restore(bytes, field.sure, steps),
  };
}

function givenField(field) {
  const truth = Float64Array.from([field.values].flat());
  return { ...field, steps: 1, width: truth.length, truth };
}

async function readRecordings(header, packed) {
  const bytes = await inflate(packed);
  return header.recordings.map((recording) => ({
    ...recording,
    inputs: recording.inputs.map(givenField),
    hints: recording.hints.map((field) => unpackField(bytes, field, recording.steps)),
    outputs: recording.outputs.map((field) => unpackField(bytes, field, 1)),
  }));
}

const POINTERS = new Set(["pointer", "should_be_permutation", "permutation_pointer"]);
const isSingle = (field) => field.kind === "mask_one" || field.location === "graph";
const isNode = (field) => field.location === "node" && field.kind !== "mask_one";
const isPair = (field) => field.location === "edge";

// The true run, or the predicted one, of which what was not predicted is as given.
class Side {
  constructor(recording, predicted) {
    this.recording = recording;
    this.predicted = predicted;
  }

  values(field, t) {
    const row = Math.min(t, field.steps - 1) * field.width;
    const array = this.predicted && field.guess ? field.guess : field.truth;
    return array.subarray(row, row + field.width);
  }

  wrong(field, t, i) {
    if (!this.predicted || !field.guess || field.kind === "scalar") return false;
    const k = Math.min(t, field.steps - 1) * field.width + i;
    return field.truth[k] >= 0 && field.guess[k] !== field.truth[k];
  }

  sure(field, t, i) {
    if (!this.predicted || !field.sure) return 1;
    return field.sure[Math.min(t, field.steps - 1) * field.width + i] / 15;
  }

  countWrong(field, t) {
    let count = 0;
    for (let i = 0; i < field.width; i++) count += this.wrong(field, t, i);
    return count;
  }

  // How far predicted numbers are from the true ones, on average.
  error(field, t) {
    const row = Math.min(t, field.steps - 1) * field.width;
    let sum = 0;
    for (let k = row; k < row + field.width; k++) sum += Math.abs(field.guess[k] - field.truth[k]);
    return sum / field.width;
  }

  // In words, how good the prediction of a field is.
  verdict(field, t) {
    if (field.kind === "scalar") return `predicted, off by ${this.error(field, t).toPrecision(2)}`;
    const flaws = this.countWrong(field, t);
    return flaws ? `predicted, ${flaws} wrong` : "predicted";
  }
}
