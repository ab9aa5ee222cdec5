import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../src/tools/html-text.ts';

const reduce = (html: string) => htmlToText(html, 'https://example.com/dir/page');

describe('htmlToText', () => {
  it('keeps headings, paragraphs, lists and links', async () => {
    const html = `<!doctype html><html><head><title>A page</title><style>p{}</style></head><body>
      <h1>Top &amp; more</h1><p>One   two<br>three</p>
      <ul><li>first</li><li>second <a href="../x?a=1&amp;b=2">link</a><ol><li>inner</li></ol></li></ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
    </body></html>`;
    expect(await reduce(html)).toBe(
      'A page\n\n# Top & more\n\nOne two\nthree\n\n- first\n- second [link](https://example.com/x?a=1&b=2)\n  - inner\n\na b\n1 2',
    );
  });

  it('leaves out scripts, comments, templates and hidden elements', async () => {
    expect(
      await reduce(
        'a<script>alert("</p>")</script>b<!-- <p>c</p> --><div hidden>d<div>e</div></div><span style="display: none">f</span><p aria-hidden="true">g</p><noscript>h</noscript>i',
      ),
    ).toBe('abi');
  });

  it('shows only links that lead somewhere else', async () => {
    expect(await reduce('<a href="javascript:alert(1)">a</a> <a href="#x">b</a> <a href="mailto:x@y.z">c</a>')).toBe(
      'a b [c](mailto:x@y.z)',
    );
  });

  it('reads attributes in either kind of quotes and without any', async () => {
    expect(await reduce(`<a href='https://a.example/1'>a</a> <a class=x href=https://b.example/2>b</a>`)).toBe(
      '[a](https://a.example/1) [b](https://b.example/2)',
    );
  });

  it('keeps the lines of preformatted text', async () => {
    expect(await reduce('<p>x</p><pre>a\n  b\n</pre>y')).toBe('x\n\na\n  b\n\ny');
  });

  it('keeps cells apart whose end is left out', async () => {
    expect(await reduce('<table><tr><th>a<th>b<tr><td>1<td>2<td> 3</table>')).toBe('a b\n1 2 3');
  });

  it('decodes entities, and not what only looks like one', async () => {
    expect(await reduce('&lt;b&gt; &#65;&#x42; &nosuch; &amp;lt; &#0; 1 < 2')).toBe(
      '<b> AB &nosuch; &lt; \ufffd 1 < 2',
    );
  });

  it('survives what is left open', async () => {
    expect(await reduce('a<div title="b')).toBe('a');
    expect(await reduce('a<script>b')).toBe('a');
    expect(await reduce('a<!-- b')).toBe('a');
    expect(await reduce('a<')).toBe('a<');
    expect(await reduce('a<p')).toBe('a');
  });

  it('takes time in proportion to the length, whatever the text', async () => {
    for (const piece of ['<a href="', '<p ', '</', '<!--', '&', '<div hidden>', '<script', ' \t', '<pre> ']) {
      expect((await reduce(piece.repeat(200_000))).length).toBeLessThan(2_000_000);
    }
  });

  it('keeps long text as it is, also an entity and blanks where it is taken in parts', async () => {
    const text = 'word &amp; word '.repeat(20_000);
    expect(await reduce(`<p>${text}`)).toBe('word & word '.repeat(20_000).trim());
    expect(await reduce(`<pre>${'&lt;'.repeat(50_000)}`)).toBe('<'.repeat(50_000));
  });

  it('lets others have their turn while a page that was built to be slow is read', async () => {
    let done = false;
    let turns = 0;
    const reading = reduce('<a href=//[>'.repeat(10_000)).then(() => {
      done = true;
    });
    while (!done) {
      turns += 1;
      await new Promise((next) => setImmediate(next));
    }
    await reading;
    expect(turns).toBeGreaterThan(3);
  });
});
