import type { INestApplicationContext } from '@nestjs/common';
import { PasswordHasher } from '@svc/auth';
import { DataSource } from 'typeorm';
import { Admin } from '../users/admin.entity';
import { StaffMember } from '../users/staff-member.entity';
import { User } from '../users/user.entity';

export const DEMO = {
  user: 'demo@example.com',
  admin: 'root@example.com',
  support: 'sam@example.com',
  staff: 'casey',
  password: 'correct-horse-battery',
};

/**
 * Creates the demo accounts that do not exist. Two processes can do this at the same time.
 *
 * @param isOffered whether the page offers the account of the user, who gets the known password again
 */
export async function createDemoAccounts(app: INestApplicationContext, isOffered: boolean): Promise<void> {
  const { manager } = app.get(DataSource);
  const passwordHash = await app.get(PasswordHasher).hash(DEMO.password);
  const user = { email: DEMO.user, name: 'Demo', passwordHash, emailVerifiedAt: new Date() };
  await manager.createQueryBuilder().insert().into(User).values(user).orIgnore().execute();
  if (isOffered) await manager.update(User, { email: DEMO.user }, { passwordHash });
  const admins: Partial<Admin & { email: string; passwordHash: string }>[] = [
    { email: DEMO.admin, passwordHash, role: 'administrator' },
    { email: DEMO.support, passwordHash, role: 'support' },
  ];
  await manager.createQueryBuilder().insert().into(Admin).values(admins).orIgnore().execute();
  const member = { handle: DEMO.staff, passwordHash };
  await manager.createQueryBuilder().insert().into(StaffMember).values(member).orIgnore().execute();
}
