import { Controller, Get, HttpCode, Param, ParseIntPipe, Post } from '@nestjs/common';
import { Abilities, Auth, Authenticated, RequireConfirmation } from '@svc/auth';
import { DataSource } from 'typeorm';
import { Customer } from './accounts.js';

@Controller('staff/customers')
@Authenticated('staff')
export class StaffController {
  constructor(
    private readonly auth: Auth,
    private readonly source: DataSource,
  ) {}

  @Get()
  @Abilities('customers.read')
  list() {
    return this.source.getRepository(Customer).find({ order: { id: 'ASC' } });
  }

  /** Ends all sessions of a customer. It needs the password of the staff member again. */
  @Post(':id/sign-out')
  @HttpCode(204)
  @Abilities('customers.sign-out')
  @RequireConfirmation()
  async signOut(@Param('id', ParseIntPipe) id: number) {
    await this.auth.revokeAll(id);
  }
}
