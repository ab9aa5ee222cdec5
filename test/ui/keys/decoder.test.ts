import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInputDecoder, type InputEvent } from '../../../ui/keys/decoder.ts';
import { notation } from '../../../ui/keys/key.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const shown = (events: readonly InputEvent[]): readonly string[] =>
  events.map((event) => {
    if (event.type === 'key') return notation(event);
    if (event.type === 'paste') return `paste ${JSON.stringify(event.text)}`;
    return event.type === 'mouse' ? `wheel ${event.wheel}` : event.type;
  });
const read = (text: string): readonly string[] => {
  const decoder = createInputDecoder();
  return shown([...decoder.push(bytes(text), 0), ...decoder.tick(10_000)]);
};

describe('the input decoder', () => {
  it.each([
    ['a', ['a']],
    ['R', ['R']],
    [' ', ['space']],
    ['\r', ['enter']],
    ['\n', ['ctrl+j']],
    ['\t', ['tab']],
    ['\u0008\u007f', ['backspace', 'backspace']],
    ['\u0000', ['ctrl+space']],
    ['\u0018s', ['ctrl+x', 's']],
    ['\u001c\u001f', ['ctrl+\\', 'ctrl+_']],
    ['\u001bb', ['alt+b']],
    ['\u001b\r', ['alt+enter']],
    ['\u001b\u007f', ['alt+backspace']],
    ['\u001b', ['escape']],
    ['\u001b\u001b', ['escape', 'escape']],
    ['\u001b[A\u001bOA', ['up', 'up']],
    ['\u001b[1;5D\u001b[1;2A', ['ctrl+left', 'shift+up']],
    ['\u001b[3~\u001b[5;5~\u001b[15~', ['delete', 'ctrl+pageup', 'f5']],
    ['\u001b[Z', ['shift+tab']],
    ['\u001b[13;2u\u001b[27;2;13~', ['shift+enter', 'shift+enter']],
    ['\u001b[97;5u\u001b[27;5;97~\u0001', ['ctrl+a', 'ctrl+a', 'ctrl+a']],
    ['\u001b[27u\u001b[98;3u', ['escape', 'alt+b']],
    ['\u001b[97;1:3u\u001b[A', ['up']],
    ['\u001b[I\u001b[O', ['focus', 'blur']],
    ['\u001b[<64;10;5M\u001b[<65;1;1M\u001b[<0;1;1M', ['wheel up', 'wheel down']],
    ['\u001b[?1u', ['protocol']],
    ['\u001b]52;c;eXk=\u0007a', ['a']],
    ['\u001bP1$r0m\u001b\\b', ['b']],
    ['\u001b[?62;c\u001b[99;99Xc', ['c']],
    ['한é👩‍👩‍👧', ['한', 'é', '👩', '\u200d', '👩', '\u200d', '👧']],
  ])('reads %j', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('gives a paste as one event, with line ends of one kind', () => {
    expect(read('x\u001b[200~a\r\nb\rc\u001b[201~y')).toEqual(['x', 'paste "a\\nb\\nc"', 'y']);
  });

  it('lets no key of a paste through, not even what looks like one', () => {
    expect(read('\u001b[200~\u001b[Ay\r\u001b[201~')).toEqual(['paste "\\u001b[Ay\\n"']);
  });

  it('takes reports out of a paste', () => {
    expect(read('\u001b[200~a\u001b[I\u001b[<64;1;1Mb\u001b[201~')).toEqual(['paste "ab"', 'focus', 'wheel up']);
  });

  it('ends a paste without an end after a second of silence, and then hears keys again', () => {
    const decoder = createInputDecoder();
    expect(decoder.push(bytes('\u001b[200~ab'), 0)).toEqual([]);
    expect(decoder.push(bytes('c'), 900)).toEqual([]);
    expect(decoder.wakeAt()).toBe(1900);
    expect(shown(decoder.tick(1899))).toEqual([]);
    expect(shown(decoder.tick(1900))).toEqual(['paste "abc"']);
    expect(shown(decoder.push(bytes('y'), 1901))).toEqual(['y']);
  });

  it('takes a lone ESC for the key after 50 ms, and not before', () => {
    const decoder = createInputDecoder();
    expect(decoder.push(bytes('\u001b'), 0)).toEqual([]);
    expect(decoder.wakeAt()).toBe(50);
    expect(shown(decoder.push(bytes('[A'), 30))).toEqual(['up']);
    decoder.push(bytes('\u001b'), 100);
    expect(shown(decoder.push(bytes('b'), 150))).toEqual(['escape', 'b']);
  });

  it('holds no more of a paste than it may, and says so', () => {
    const decoder = createInputDecoder();
    decoder.push(bytes('\u001b[200~'), 0);
    for (let at = 0; at < 9; at += 1) decoder.push(Buffer.alloc(1024 * 1024, 97), 0);
    const [paste] = decoder.push(bytes('\u001b[201~'), 0);
    expect(paste?.type === 'paste' ? [paste.text.length, paste.tooLong] : null).toEqual([8 * 1024 * 1024, true]);
  });

  it('reads the same however the bytes are cut', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '\u001b[A',
        '\u001b[1;5D',
        '\u001b[13;2u',
        '\u001b[I',
        '\u001b[200~a\r\nb한\u001b[201~',
        '한',
        '👩‍👩‍👧',
        '\u001bb',
      ),
      fc.constantFrom('\r', '\t', '\u0018', '\u007f', '\u001b]0;t\u0007', '\u001b[<64;1;1M', '\u001b[27;2;13~'),
      fc.stringMatching(/^[a-z ]{1,4}$/),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(200), { maxLength: 20 }), (pieces, cuts) => {
        const all = bytes(pieces.join(''));
        const whole = createInputDecoder();
        const expected = [...whole.push(all, 0), ...whole.tick(5000)];
        const split = createInputDecoder();
        const places = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b), all.length];
        const got = places.slice(1).flatMap((end, index) => split.push(all.subarray(places[index], end), 0));
        expect([...got, ...split.tick(5000)]).toEqual(expected);
      }),
    );
  });

  it('never throws and never types what it does not know', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (given) => {
        const decoder = createInputDecoder();
        const events = [...decoder.push(given, 0), ...decoder.tick(5000)];
        for (const event of events)
          if (event.type === 'key') expect(event.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});
