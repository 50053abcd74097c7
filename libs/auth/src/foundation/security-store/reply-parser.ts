/** The reply parser of node-redis 4 (`@redis/client` 1.x), with the state that its own `reset` does not clear. */
interface ReplyParser {
  reset(): void;
  integer: number;
  isNegativeInteger?: boolean;
  bulkStringRemainingLength?: number;
  arraysInProcess: unknown[];
  initializeArray: boolean;
  arrayItemType?: number;
}

const PARSER_FILE = /[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]RESP2[\\/]decoder\.js$/;
const patched = new WeakSet<object>();

/**
 * Patches the reply parser of node-redis 4, so that it discards a reply of which a broken connection delivered a part.
 *
 * A client uses one parser for all its connections and clears only a part of its state between them. It then reads the
 * replies of the next connection as the rest of the broken reply. As a result the client never becomes ready, or the
 * process ends, or commands receive the replies of other commands: a revoked token is not found on the denylist. The
 * parser of node-redis 5 clears its whole state.
 *
 * @returns whether a parser was found. There is none in a bundled application
 */
export function mendReplyParser(loaded: NodeJS.Dict<NodeJS.Module> = require.cache ?? {}): boolean {
  let isFound = false;
  for (const file of Object.keys(loaded).filter((name) => PARSER_FILE.test(name))) {
    const parser = (loaded[file]?.exports as { default?: { prototype: ReplyParser } } | undefined)?.default?.prototype;
    if (!parser) continue;
    isFound = true;
    if (patched.has(parser)) continue;
    patched.add(parser);
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
