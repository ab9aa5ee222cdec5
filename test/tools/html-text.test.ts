import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../src/tools/html-text.ts';

const reduce = (html: string) => htmlToText(html, 'https://example.com/dir/page');

describe('htmlToText', () => {
  it('keeps headings, paragraphs, lists and links', () => {
    const html = `<!doctype html><html><head><title>A page</title><style>p{}</style></head><body>
      <h1>Top &amp; more</h1><p>One   two<br>three</p>
      <ul><li>first</li><li>second <a href="../x?a=1&amp;b=2">link</a><ol><li>inner</li></ol></li></ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
    </body></html>`;
    expect(reduce(html)).toBe(
      'A page\n\n# Top & more\n\nOne two\nthree\n\n- first\n- second [link](https://example.com/x?a=1&b=2)\n  - inner\n\na b\n1 2',
    );
  });

  it('leaves out scripts, comments, templates and hidden elements', () => {
    expect(
      reduce(
        'a<script>alert("</p>")</script>b<!-- <p>c</p> --><div hidden>d<div>e</div></div><span style="display: none">f</span><p aria-hidden="true">g</p><noscript>h</noscript>i',
      ),
    ).toBe('abi');
  });

  it('shows only links that lead somewhere else', () => {
    expect(reduce('<a href="javascript:alert(1)">a</a> <a href="#x">b</a> <a href="mailto:x@y.z">c</a>')).toBe(
      'a b [c](mailto:x@y.z)',
    );
  });

  it('keeps the lines of preformatted text', () => {
    expect(reduce('<p>x</p><pre>a\n  b\n</pre>y')).toBe('x\n\na\n  b\n\ny');
  });

  it('keeps cells apart whose end is left out', () => {
    expect(reduce('<table><tr><th>a<th>b<tr><td>1<td>2<td> 3</table>')).toBe('a b\n1 2 3');
  });

  it('decodes entities, and not what only looks like one', () => {
    expect(reduce('&lt;b&gt; &#65;&#x42; &nosuch; &amp;lt; &#0; 1 < 2')).toBe('<b> AB &nosuch; &lt; \ufffd 1 < 2');
  });

  it('survives what is left open', () => {
    expect(reduce('a<div title="b')).toBe('a');
    expect(reduce('a<script>b')).toBe('a');
    expect(reduce('a<!-- b')).toBe('a');
    expect(reduce('a<')).toBe('a<');
    expect(reduce('a<p')).toBe('a');
  });

  it('takes time in proportion to the length, whatever the text', () => {
    const sizes = ['<a href="', '<p ', '</', '<!--', '&', '<div hidden>', '<script', ' \t', '<pre> '].map(
      (piece) => reduce(piece.repeat(200_000)).length,
    );
    expect(sizes.every((size) => size < 2_000_000)).toBe(true);
  });
});
