import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { PrismaClient } from './generated/client.js';

/** One pool of connections for Prisma and for the tables of the library. */
@Injectable()
export class Database implements OnApplicationShutdown {
  readonly pool = new Pool({ connectionString: process.env.DATABASE_URL });
  readonly prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}
