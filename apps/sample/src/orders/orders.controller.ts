import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  NotFoundException,
  Param,
  ParseUUIDPipe,
  Post,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { ThrottlerGuard } from '@nestjs/throttler';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Authenticated,
  type Caller,
  CurrentCaller,
  CurrentUser,
  Public,
  RequireConfirmation,
  RequireFactor,
  RequireRecentLogin,
  RequireVerifiedEmail,
  Throttled,
} from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';
import type { Repository } from 'typeorm';
import type { User } from '../users/user.entity';
import { Abilities, AnyAbility } from './abilities';
import { Order } from './order.entity';

const MENU = ['tea', 'coffee', 'cake'];

/** How long ago the sign-in may be for `GET /orders/statement`, in seconds. */
const RECENT = 600;

/**
 * Every route requires an access token of the default guard, except the public one. `ThrottlerGuard` is below
 * `@Authenticated()`, so it runs first and also limits requests without a valid token.
 */
@Controller('orders')
@ApiSecurity('api_access_token')
@Authenticated()
@UseGuards(ThrottlerGuard)
export class OrdersController {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @Get('menu')
  @Public()
  menu() {
    return { data: MENU };
  }

  /** Also for a script, with an access key of the customer. A key of a service has no orders. */
  @Get()
  @AcceptsKeys()
  @Throttled('svc-key')
  @ApiSecurity('api_access_key')
  @Abilities('orders.read')
  async list(@CurrentCaller() { userId, service }: Caller) {
    return { data: service === undefined ? await this.of(userId) : [] };
  }

  /** A CSV file. The limiter `export` of `auth.options.ts` allows six requests a minute. */
  @Get('export')
  @AnyAbility('orders.export', 'orders.read')
  @Throttled('export')
  @Header('Content-Type', 'text/csv; charset=utf-8')
  async export(@CurrentCaller() { userId }: Caller): Promise<string> {
    const rows = (await this.of(userId)).map(({ id, item, createdAt }) => [id, item, createdAt.toISOString()].join());
    return ['id,item,created_at', ...rows, ''].join('\n');
  }

  /** How much of each item was ordered, for a user who has signed in within the last ten minutes. */
  @Get('statement')
  @Abilities('orders.read')
  @RequireRecentLogin(RECENT)
  async statement(@CurrentCaller() { userId }: Caller) {
    const items = (await this.of(userId)).map(({ item }) => item);
    const counts = MENU.map((item) => ({ item, count: items.filter((one) => one === item).length }));
    return { data: counts.filter(({ count }) => count > 0) };
  }

  /** Orders one of everything, for a user who has signed in with a second factor. */
  @Post('party')
  @Abilities('orders.write')
  @RequireVerifiedEmail()
  @RequireFactor('any')
  async party(@CurrentCaller() { userId }: Caller) {
    return { data: await this.orders.save(MENU.map((item) => ({ userId, item }))) };
  }

  @Post()
  @Abilities('orders.write')
  @RequireVerifiedEmail()
  async place(@CurrentUser() user: User, @Body('item') item: unknown) {
    if (typeof item !== 'string' || !MENU.includes(item))
      throw new BadRequestException(`item must be one of ${MENU.join(', ')}`);
    return { data: await this.orders.save({ userId: user.id, item }) };
  }

  /** Requires a confirmation token besides the access token: see `POST /auth/confirm-password`. */
  @Delete(':id')
  @HttpCode(204)
  @Abilities('orders.write')
  @RequireConfirmation()
  async cancel(@CurrentCaller() { userId }: Caller, @Param('id', ParseUUIDPipe) id: string): Promise<void> {
    // The owner is part of the condition: an order of another user is answered with 404.
    const { affected } = await this.orders.delete({ id, userId });
    if (!affected) throw new NotFoundException('No such order.');
  }

  private of(userId: string): Promise<Order[]> {
    return this.orders.find({ where: { userId }, order: { createdAt: 'ASC' } });
  }
}
