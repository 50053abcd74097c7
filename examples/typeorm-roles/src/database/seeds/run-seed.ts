import { genSalt, hash } from 'bcryptjs';
import { RoleEntity } from '../../roles/role.entity.js';
import { RoleEnum } from '../../roles/roles.enum.js';
import { StatusEntity } from '../../statuses/status.entity.js';
import { StatusEnum } from '../../statuses/statuses.enum.js';
import { UserEntity } from '../../users/entities/user.entity.js';
import { AppDataSource } from '../data-source.js';

const users = [
  { email: 'admin@example.com', firstName: 'Super', lastName: 'Admin', role: { id: RoleEnum.admin } },
  { email: 'john.doe@example.com', firstName: 'John', lastName: 'Doe', role: { id: RoleEnum.user } },
];

async function runSeed() {
  await AppDataSource.initialize();
  const { manager } = AppDataSource;
  await manager.save(RoleEntity, [
    { id: RoleEnum.admin, name: 'Admin' },
    { id: RoleEnum.user, name: 'User' },
  ]);
  await manager.save(StatusEntity, [
    { id: StatusEnum.active, name: 'Active' },
    { id: StatusEnum.inactive, name: 'Inactive' },
  ]);
  for (const user of users) {
    if (!(await manager.existsBy(UserEntity, { email: user.email }))) {
      const passwordHash = await hash('secret', await genSalt());
      const active = { status: { id: StatusEnum.active }, emailVerifiedAt: new Date() };
      await manager.save(manager.create(UserEntity, { ...user, passwordHash, ...active }));
    }
  }
  await AppDataSource.destroy();
}
void runSeed();
