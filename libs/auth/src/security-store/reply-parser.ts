/** The parser of replies of node-redis 4 (`@redis/client` 1.x): the state that its own `reset` leaves behind. */
interface ReplyParser {
  reset(): void;
  integer: number;
  isNegativeInteger?: boolean;
  bulkStringRemainingLength?: number;
  arraysInProcess: unknown[];
  initializeArray: boolean;
  arrayItemType?: number;
}

const FILE = /[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]RESP2[\\/]decoder\.js$/;
const mended = new WeakSet<object>();

/**
 * Has node-redis 4 forget a reply of which a broken connection delivered a part.
 *
 * A client keeps one parser for all its connections, and forgets half of its state between them. The next
 * connection's replies are then read as the rest of that one; it never becomes ready, the process dies of it, or
 * commands get each other's replies: a token that was revoked is not found on the denylist. node-redis 5
 * has a parser that forgets everything.
 *
 * @returns whether there was one; a bundler leaves none to be found
 */
export function mendReplyParser(loaded: NodeJS.Dict<NodeJS.Module> = require.cache ?? {}): boolean {
  let isFound = false;
  for (const file of Object.keys(loaded).filter((name) => FILE.test(name))) {
    const parser = (loaded[file]?.exports as { default?: { prototype: ReplyParser } } | undefined)?.default?.prototype;
    if (!parser) continue;
    isFound = true;
    if (mended.has(parser)) continue;
    mended.add(parser);
    const reset = parser.reset;
    parser.reset = function (this: ReplyParser): void {
      reset.call(this);
      this.integer = 0;
      this.isNegativeInteger = undefined;
      this.bulkStringRemainingLength = undefined;
      this.arraysInProcess = [];
      this.initializeArray = false;
      this.arrayItemType = undefined;
    };
  }
  return isFound;
}
