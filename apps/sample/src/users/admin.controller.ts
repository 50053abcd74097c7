import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { ThrottlerGuard } from '@nestjs/throttler';
import { InjectRepository } from '@nestjs/typeorm';
import { Authenticated, CurrentUser } from '@svc/auth';
import type { Repository } from 'typeorm';
import type { Admin } from './admin.entity';
import { User } from './user.entity';

/** Routes of the second guard. They refuse the tokens of customers. */
@Controller('admin')
@ApiSecurity('admin_access_token')
@Authenticated('admin')
@UseGuards(ThrottlerGuard)
export class AdminController {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** The operator who is signed in. */
  @Get('me')
  show(@CurrentUser() { id, email, role }: Admin) {
    return { data: { id, email, role } };
  }

  @Get('users')
  async list() {
    return { data: await this.users.find({ order: { email: 'ASC' } }) };
  }
}
