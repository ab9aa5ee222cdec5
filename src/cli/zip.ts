import { crc32, deflateRawSync } from 'node:zlib';

export type ZipEntry = { readonly name: string; readonly bytes: Buffer };

/** A ZIP archive of a few small files, in order. @param at time of all entries, in milliseconds since the epoch */
export function zip(entries: readonly ZipEntry[], at: number): Buffer {
  const stamp = dosTime(new Date(at));
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const deflated = deflateRawSync(bytes);
    const file = Buffer.from(name, 'utf8');
    // Shared by the header before the bytes and the entry of the directory: from the version needed to the name's length.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(utf8Names, 2);
    common.writeUInt16LE(deflate, 4);
    common.writeUInt32LE(stamp, 6);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(deflated.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(file.length, 22);
    const header = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, file, deflated]);
    const rest = Buffer.alloc(14);
    // An ordinary file that its owner alone may read and write.
    rest.writeUInt32LE((0o100600 << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), madeByUnix, common, rest, file]));
    bodies.push(header);
    offset += header.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from('PK\u0005\u0006'), end]);
}

const utf8Names = 0x0800;
const deflate = 8;
const madeByUnix = Buffer.from([20, 3]);

/** Date above time, as MS-DOS counts: two-second steps from 1980 on. */
const dosTime = (at: Date): number =>
  (((at.getUTCFullYear() - 1980) << 25) |
    ((at.getUTCMonth() + 1) << 21) |
    (at.getUTCDate() << 16) |
    (at.getUTCHours() << 11) |
    (at.getUTCMinutes() << 5) |
    (at.getUTCSeconds() >> 1)) >>>
  0;
