import { mendReplyParser } from './reply-parser';

interface Parser {
  write(chunk: Buffer): void;
  reset(): void;
}
type ParserClass = new (options: {
  returnStringsAsBuffers: () => boolean;
  onReply: (reply: unknown) => void;
}) => Parser;

const DECODER = require.resolve('@redis/client/dist/lib/client/RESP2/decoder');
const NOT_FOUND = '*2\r\n$-1\r\n$-1\r\n';
const DENIED = '*2\r\n$-1\r\n$4\r\ntrue\r\n';
const COUNTED = '*4\r\n:1\r\n:-25\r\n:3\r\n:60000\r\n';
const AFTERWARDS = ['+OK\r\n', DENIED, NOT_FOUND, COUNTED, DENIED];
const READ = ['OK', [null, 'true'], [null, null], [1, -25, 3, 60000], [null, 'true']];

describe('the reply parser of node-redis 4', () => {
  const cuts = [NOT_FOUND, DENIED, COUNTED].flatMap((reply) =>
    Array.from({ length: reply.length - 1 }, (_, i) => reply.slice(0, i + 1)),
  );

  /** Returns the replies of a new connection after the previous one delivered `part` of a reply. */
  function readAfter(part: string, patch: boolean): unknown[] {
    let replies: unknown[] = [];
    // A newly loaded parser without the patch.
    delete require.cache[DECODER];
    const { default: Decoder } = require(DECODER) as { default: ParserClass };
    if (patch) mendReplyParser({ '/x/@redis/client/dist/lib/client/RESP2/decoder.js': loaded(Decoder) });
    const parser = new Decoder({ returnStringsAsBuffers: () => false, onReply: (reply) => replies.push(reply) });
    parser.write(Buffer.from(part));
    replies = [];
    parser.reset();
    for (const reply of AFTERWARDS) parser.write(Buffer.from(reply));
    return replies;
  }

  it.each(cuts.map((part) => [JSON.stringify(part), part]))('with the patch discards %s', (_, part) => {
    expect(readAfter(part, true)).toEqual(READ);
  });

  it('without the patch assigns replies to the wrong commands, so that a denied token is not found', () => {
    // The first check, of a denied token, receives the reply to the second check, of a token that is not denied.
    expect(readAfter('*2\r\n$-', false).slice(0, 4)).toEqual(['OK', ['', null], 'true', [null, null]]);
  });

  it('is not found without node-redis 4', () => {
    expect(mendReplyParser({})).toBe(false);
  });
});

const loaded = (Decoder: ParserClass): NodeJS.Module => ({ exports: { default: Decoder } }) as unknown as NodeJS.Module;
