import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { PasswordHasher } from '@svc/auth';
import type { Repository } from 'typeorm';
import { Admin } from './admin.entity';
import { User } from './user.entity';

export const DEMO = { user: 'demo@example.com', admin: 'root@example.com', password: 'correct-horse-battery' };

/** Creates the demo accounts, once. */
@Injectable()
export class Seed {
  private readonly logger = new Logger(Seed.name);

  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(Admin) private readonly admins: Repository<Admin>,
    private readonly hasher: PasswordHasher,
  ) {}

  async run(): Promise<void> {
    const passwordHash = await this.hasher.hash(DEMO.password);
    // Two processes may seed one database at once; the second one changes nothing.
    await this.users
      .createQueryBuilder()
      .insert()
      .values({ email: DEMO.user, name: 'Demo', passwordHash, emailVerifiedAt: new Date() })
      .orIgnore()
      .execute();
    await this.admins.createQueryBuilder().insert().values({ email: DEMO.admin, passwordHash }).orIgnore().execute();
    this.logger.log('demo accounts are ready');
  }
}
