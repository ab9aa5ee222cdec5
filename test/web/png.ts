import { deflateSync, inflateSync } from 'node:zlib';

/**
 * The picture with at most 256 colours, a third of its size: what a page shows has few. Colours beyond the most frequent
 * become the nearest of them.
 * @param png as Chromium writes it: 8 bits for each of red, green and blue, and maybe alpha, which is left out
 */
export function withFewColours(png: Buffer): Buffer {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const bytes = png[25] === 6 ? 4 : 3;
  const pixels = unfiltered(inflateSync(Buffer.concat(chunksOf(png, 'IDAT'))), width, height, bytes);
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += bytes) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, left], [, right]) => right - left)
    .slice(0, 256)
    .map(([colour]) => colour);
  const places = new Map<number, number>();
  for (const colour of counts.keys()) places.set(colour, nearest(palette, colour));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = places.get(pixels.readUIntBE((y * width + x) * bytes, 3)) ?? 0;
    }
  }
  const head = Buffer.from(png.subarray(16, 29));
  head[9] = 3;
  const colours = Buffer.concat(
    palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])),
  );
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [place, each] of palette.entries()) {
    const away =
      ((each >> 16) - (colour >> 16)) ** 2 +
      (((each >> 8) & 255) - ((colour >> 8) & 255)) ** 2 +
      ((each & 255) - (colour & 255)) ** 2;
    if (away < least) [best, least] = [place, away];
  }
  return best;
}

function chunksOf(png: Buffer, name: string): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === name) found.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return found;
}

function chunk(name: string, data: Buffer): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length);
  out.write(name, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(checksum(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** Rows of a PNG are differences to what stands to the left and above (PNG 9). */
function unfiltered(data: Buffer, width: number, height: number, bytes: number): Buffer {
  const length = width * bytes;
  const out = Buffer.alloc(length * height);
  for (let y = 0; y < height; y += 1) {
    const kind = data[y * (length + 1)];
    for (let x = 0; x < length; x += 1) {
      const left = x < bytes ? 0 : (out[y * length + x - bytes] ?? 0);
      const up = y === 0 ? 0 : (out[(y - 1) * length + x] ?? 0);
      const corner = x < bytes || y === 0 ? 0 : (out[(y - 1) * length + x - bytes] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind ?? 0] ?? 0;
      out[y * length + x] = ((data[y * (length + 1) + 1 + x] ?? 0) + guess) & 255;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
