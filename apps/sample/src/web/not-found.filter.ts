import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_HEADERS } from './page-headers';

const PAGE = readFileSync(join(__dirname, 'app', 'index.html'), 'utf8');

/** A browser that opens an unknown address gets the page, which shows a way back. Every other client gets JSON. */
@Catch(NotFoundException)
export class NotFoundFilter implements ExceptionFilter {
  catch(error: NotFoundException, host: ArgumentsHost): void {
    const [request, response] = [
      host.switchToHttp().getRequest<Request>(),
      host.switchToHttp().getResponse<Response>(),
    ];
    const isNavigation = request.method === 'GET' && request.accepts(['json', 'html']) === 'html';
    response.status(404);
    if (isNavigation) response.set(PAGE_HEADERS).send(PAGE);
    else response.json(error.getResponse());
  }
}
