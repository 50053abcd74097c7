import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Auth, PasswordHasher } from '@svc/auth';
import type { FindOptionsWhere, Repository } from 'typeorm';
import { AuthProvidersEnum } from '../auth/auth-providers.enum.js';
import type { AuthRegisterLoginDto } from '../auth/dto/auth-register-login.dto.js';
import { RoleEnum } from '../roles/roles.enum.js';
import { FormerSessions } from '../session/former-sessions.js';
import { StatusEnum } from '../statuses/statuses.enum.js';
import type { NullableType } from '../utils/nullable.type.js';
import { unprocessable } from '../utils/unprocessable.js';
import type { CreateUserDto } from './dto/create-user.dto.js';
import type { UpdateUserDto } from './dto/update-user.dto.js';
import { UserEntity } from './entities/user.entity.js';

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(UserEntity)
    private readonly usersRepository: Repository<UserEntity>,
    private readonly auth: Auth,
    private readonly formerSessions: FormerSessions,
    private readonly hasher: PasswordHasher,
  ) {}

  async create({ password, ...profile }: CreateUserDto): Promise<UserEntity> {
    await this.requireFreeEmail(profile.email);
    const passwordHash = password && (await this.hashOf(password, profile.email));
    const user = this.usersRepository.create({ provider: AuthProvidersEnum.email, ...profile, passwordHash });

    return this.usersRepository.save(user);
  }

  register(dto: AuthRegisterLoginDto): Promise<UserEntity> {
    const { email, password, firstName, lastName } = dto;
    const [role, status] = [{ id: RoleEnum.user }, { id: StatusEnum.inactive }];
    return this.create({ email, password, firstName, lastName, role, status });
  }

  findManyWithPagination({ page, limit }: { page: number; limit: number }): Promise<UserEntity[]> {
    return this.usersRepository.find({ skip: (page - 1) * limit, take: limit, order: { id: 'ASC' } });
  }

  findOne(fields: FindOptionsWhere<UserEntity>): Promise<NullableType<UserEntity>> {
    return this.usersRepository.findOne({ where: fields });
  }

  async update(id: UserEntity['id'], { password, ...changes }: UpdateUserDto): Promise<NullableType<UserEntity>> {
    const user = await this.findOne({ id });

    if (!user) {
      return null;
    }

    if (changes.email && changes.email !== user.email) {
      await this.requireFreeEmail(changes.email);
      // An address that an administrator has typed is not verified.
      user.emailVerifiedAt = null;
    }

    if (password) {
      user.passwordHash = await this.hashOf(password, changes.email ?? user.email);
    }

    const updated = await this.usersRepository.save(this.usersRepository.merge(user, changes));

    if (password) {
      await this.formerSessions.endAll(id);
    }

    return updated;
  }

  async softDelete(id: UserEntity['id']): Promise<void> {
    await this.usersRepository.softDelete(id);
    await this.formerSessions.endAll(id);
  }

  async requireFreeEmail(email: string, refusal = 'emailAlreadyExists'): Promise<void> {
    // Also an email of a deleted account is taken: the column is unique.
    if (await this.usersRepository.exists({ where: { email }, withDeleted: true })) {
      throw unprocessable({ email: refusal });
    }
  }

  /** The hash of a password that the rules of the library allow. */
  private async hashOf(password: string, email: string | null): Promise<string> {
    await this.auth.passwords.check(password, { identifier: email, email });
    return this.hasher.hash(password);
  }
}
