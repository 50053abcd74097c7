import { Controller, Get } from '@nestjs/common';
import { Authenticated, CurrentUser } from '@svc/auth';
import { Customer } from './accounts.js';

@Controller('orders')
@Authenticated()
export class OrdersController {
  @Get()
  list(@CurrentUser() customer: Customer) {
    return { customer: customer.name, orders: [] };
  }
}
