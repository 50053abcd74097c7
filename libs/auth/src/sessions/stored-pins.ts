import { Injectable } from '@nestjs/common';
import { Pins } from '../abilities/pins';
import { Database } from '../kernel/database';
import { isUuid } from '../kernel/uuid';
import { RefreshToken } from './refresh-token.entity';

/** Reads pins off the refresh tokens, which carry the pinned list from one to the next. */
@Injectable()
export class StoredPins extends Pins {
  constructor(private readonly database: Database) {
    super();
  }

  async isPinned(familyId: string): Promise<boolean> {
    // A co-issuer may name its sessions as it likes; ours are UUIDs.
    if (!isUuid(familyId)) return false;
    const statement = `SELECT 1 FROM ${this.database.table(RefreshToken)} WHERE family_id = $1 AND scope IS NOT NULL LIMIT 1`;
    return (await this.database.query(statement, [familyId])).length > 0;
  }
}
