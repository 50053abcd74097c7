import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { onBehalfOf } from '../password/on-behalf-of';
import { Applicants } from './applicants';

/** Has whatever a request to the library's routes hashes count as its sender's share. */
@Injectable()
export class FairShare implements NestInterceptor {
  constructor(private readonly applicants: Applicants) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request: object = context.switchToHttp().getRequest();
    return new Observable((subscriber) =>
      onBehalfOf(
        () => this.applicants.of(request),
        () => next.handle().subscribe(subscriber),
      ),
    );
  }
}
