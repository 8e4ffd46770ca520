import { config } from 'zod';

/* Before any schema is made: they would try whether code may be made of text, which the policy of the page refuses and reports. */
config({ jitless: true });
