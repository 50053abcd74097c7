const ALL = '*';

/** What one token may do. */
export class Grant {
  private readonly names: ReadonlySet<string>;
  private readonly prefixes: readonly string[];

  constructor(readonly abilities: readonly string[]) {
    this.names = new Set(abilities);
    this.prefixes = abilities.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  }

  /** Reads a `scope` claim (RFC 8693 §4.2). What is no string grants nothing. */
  static ofScope(scope: unknown): Grant {
    return new Grant(typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []);
  }

  /**
   * Whether the grant covers `ability`: by its exact name, by `*`, or by a `prefix.*` that its name
   * starts with, dot included. Case-sensitive; a wildcard in `ability` itself is literal.
   */
  covers(ability: string): boolean {
    if (!ability) return false;
    return this.names.has(ALL) || this.names.has(ability) || this.prefixes.some((prefix) => ability.startsWith(prefix));
  }
}
