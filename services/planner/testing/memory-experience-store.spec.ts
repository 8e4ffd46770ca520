import { experienceStoreContract } from '../experience/experience-store.contract.js';
import { MemoryExperienceStore } from './memory-experience-store.js';

experienceStoreContract('MemoryExperienceStore', async () => new MemoryExperienceStore());
