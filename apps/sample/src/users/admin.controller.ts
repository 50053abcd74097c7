import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { ThrottlerGuard } from '@nestjs/throttler';
import { InjectRepository } from '@nestjs/typeorm';
import { Authenticated } from '@svc/auth';
import type { Repository } from 'typeorm';
import { User } from './user.entity';

/** A route of the second guard. It refuses the tokens of customers. */
@Controller('admin/users')
@ApiSecurity('admin_access_token')
@Authenticated('admin')
@UseGuards(ThrottlerGuard)
export class AdminController {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  @Get()
  async list() {
    return { data: await this.users.find({ order: { email: 'ASC' } }) };
  }
}
