import type { ObjectLiteral } from 'typeorm';
import { AuthConfigError } from '../kernel/auth.exception';
import type { Database } from '../kernel/database';
import type { RowCache } from './row-cache';
import type { StoredSecondFactor } from './second-factor';
import { TypeormUserProvider } from './typeorm-user-provider';
import { rowReader } from './user-row';

/** Remembers the users of guarded requests for a moment, until something is done to them: `userCacheSeconds`. */
export class RememberingUserProvider<User extends ObjectLiteral = ObjectLiteral> extends TypeormUserProvider<User> {
  private readonly remembered: (id: string) => Promise<object | null>;

  /** @throws AuthConfigError for an entity that is more than one row */
  constructor(
    database: Database,
    entity: new () => User,
    username: string,
    private readonly cache: RowCache,
  ) {
    super(database, entity, username);
    const reader = rowReader(database, this.metadata, cache);
    if (!reader) {
      throw new AuthConfigError(
        `userCacheSeconds is set, but ${this.metadata.name} is more than the columns of its table (eager relations, ` +
          'inheritance, load listeners). Leave the option out, or take that away.',
      );
    }
    this.remembered = reader;
  }

  override findCaller(id: string): Promise<User | null> {
    return this.spelled(id, this.remembered);
  }

  override forget(id: string): void {
    this.cache.drop(id);
  }

  override markEmailVerified(id: string, email: string, at: Date): Promise<boolean> {
    return super.markEmailVerified(id, email, at).finally(() => this.forget(id));
  }

  override replaceSecondFactor(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean> {
    return super.replaceSecondFactor(id, current, next).finally(() => this.forget(id));
  }

  override savePasswordHash(id: string, passwordHash: string, replacing?: string): Promise<boolean> {
    return super.savePasswordHash(id, passwordHash, replacing).finally(() => this.forget(id));
  }
}
