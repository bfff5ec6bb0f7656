// Checks the first part of a chosen file before its upload: header, number of cells, numbers and coordinates.
// `podiumFirstPart(file, layout)` returns {lines, problems}. The server checks the whole file in any case.
(() => {
  const PART_BYTES = 256 * 1024;
  const MOST_PROBLEMS = 5;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  const quote = (text) => `“${text.length > 40 ? `${text.slice(0, 37)}…` : text}”`;

  // Returns the first bytes of a file, decompressed, and whether there are more.
  const firstBytes = async (file) => {
    const part = file.slice(0, PART_BYTES);
    const magic = new Uint8Array(await part.slice(0, 2).arrayBuffer());
    if (magic[0] !== 0x1f || magic[1] !== 0x8b) return [new Uint8Array(await part.arrayBuffer()), file.size > PART_BYTES];
    const reader = part.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const chunks = [];
    let length = 0;
    let more = false;
    try {
      while (length < PART_BYTES) {
        const { done, value } = await reader.read();
        if (done) break;
        chunks.push(value);
        length += value.length;
      }
      more = length >= PART_BYTES;
    } catch {
      more = true; // The part ends in the middle of the compressed data.
    }
    return [new Uint8Array(await new Blob(chunks).arrayBuffer()), more];
  };

  const linesOf = (text, more) => {
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
    if (more || lines.at(-1) === "") lines.pop();
    return lines;
  };

  const headerProblem = (line, layouts) => {
    if (line.includes(";")) return "The columns are separated by semicolons. Separate them with commas.";
    if (line.includes("\t")) return "The columns are separated by tabs. Separate them with commas.";
    const expected = layouts.map((layout) => layout.header.join(",")).join("  or  ");
    return `The first line is ${quote(line)}. Expected: ${expected}`;
  };

  const findLayout = (names, layouts) => {
    const key = (list) => list.map((name) => name.toLowerCase()).sort().join();
    return layouts.find((layout) => key(layout.header) === key(names));
  };

  // Collects the problems of rows. Counts all boxes, the boxes outside their image, and the boxes whose minimum
  // exceeds their maximum.
  class Rows {
    constructor() {
      this.problems = [];
      this.boxes = 0;
      this.outside = 0;
      this.inverted = 0;
    }

    add(line, text) {
      if (this.problems.length < MOST_PROBLEMS) this.problems.push(`Line ${line}: ${text}`);
    }

    prediction(line, names, numbers, values) {
      names.forEach((name, index) => {
        if (numbers.includes(name) && !NUMBER.test(values[index])) this.add(line, `${name} is ${quote(values[index])}. Expected a number.`);
      });
      const at = (name) => Number(values[names.indexOf(name)]);
      for (const suffix of ["", "1"]) {
        if (!names.includes(`XMin${suffix}`)) continue;
        const [left, right, top, bottom] = ["XMin", "XMax", "YMin", "YMax"].map((name) => at(name + suffix));
        this.boxes += 1;
        if (left >= 1 || top >= 1 || right <= 0 || bottom <= 0) this.outside += 1;
        if (left > right || top > bottom) this.inverted += 1;
      }
    }

    ofBoxes() {
      const found = [];
      if (this.boxes && this.outside === this.boxes) {
        found.push("Every box is outside its image. Are these pixels? Coordinates are fractions of the image's width and height, from 0 to 1.");
      }
      if (this.inverted) found.push(`${this.inverted} of ${this.boxes} boxes have a minimum that is larger than the maximum. Check the order of the coordinates.`);
      return found;
    }
  }

  const checkTable = (lines, layouts) => {
    const header = (lines[0] || "").split(",").map((name) => name.trim());
    const layout = findLayout(header, layouts);
    if (!layout) return [headerProblem(lines[0] || "", layouts)];
    const columns = header.map((name) => layout.header.find((known) => known.toLowerCase() === name.toLowerCase()));
    const rows = new Rows();
    lines.slice(1).forEach((text, index) => {
      const line = index + 2;
      if (text.includes('"')) return; // Only the server reads quoted cells.
      const cells = text.split(",");
      if (cells.length !== columns.length) {
        rows.add(line, `${cells.length} cells. Expected ${columns.length}.`);
        return;
      }
      if (!layout.tokens.length) {
        rows.prediction(line, columns, layout.numbers, cells.map((cell) => cell.trim()));
        return;
      }
      const tokens = cells[columns.indexOf("PredictionString")].split(" ").filter(Boolean);
      const width = layout.tokens.length;
      if (tokens.length % width) {
        rows.add(line, `${tokens.length} tokens. Expected a multiple of ${width}.`);
        return;
      }
      for (let first = 0; first < tokens.length; first += width) {
        rows.prediction(line, layout.tokens, layout.numbers, tokens.slice(first, first + width));
      }
    });
    return [...rows.ofBoxes(), ...rows.problems];
  };

  window.podiumFirstPart = async (file, format) => {
    const [bytes, more] = await firstBytes(file);
    const refuse = (text) => ({ lines: 0, problems: [text] });
    if (!bytes.length) return refuse("The file is empty.");
    if (bytes[0] === 0x50 && bytes[1] === 0x4b) return refuse("This is a zip archive. Submit the file in it, plain or compressed with gzip.");
    if (bytes.includes(0)) return refuse("The file contains NUL bytes. It must be plain text in UTF-8.");
    const text = new TextDecoder().decode(bytes);
    if (format.kind === "json") {
      const start = text.replace(/^\ufeff/, "").trimStart()[0];
      return start === format.start ? { lines: 0, problems: [] } : refuse(`The file does not begin with ${format.start}. Expected JSON as on the data page.`);
    }
    const lines = linesOf(text, more);
    return { lines: lines.length, problems: format.kind === "table" ? checkTable(lines, format.layouts) : [] };
  };
})();
