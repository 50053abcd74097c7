import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';

/** One pool of connections for Drizzle and for the tables of the library. */
@Injectable()
export class Database implements OnApplicationShutdown {
  readonly pool = new Pool({ connectionString: process.env.DATABASE_URL });
  readonly drizzle = drizzle(this.pool);

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
