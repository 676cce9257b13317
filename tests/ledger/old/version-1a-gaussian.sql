CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	neighbours TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,1,'gaussian','added or removed',NULL,NULL,'4',NULL,NULL,'13/36',2,'2333eb31323c9bc9a3ce43bbcfda970988a70ab06cd8299ce124df3b731a1d8a');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	question TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:34+00:00','poll 0','{"among":["red","green"],"column":"choice","question":"winner"}','{"mu": "1/2"}',NULL,NULL,'1/4','"red"','c88e8c5882fb75d50e98d29a8bf18a0583f9598eff83aec9a7bcb3541a616aca');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:34+00:00',NULL,'{"among":["red","green"],"column":"choice","question":"winner"}','{"mu": "1/3"}',NULL,NULL,'1/9','"gr\u00fcn"','ff4b19e709a2b4f350f5df290a185b202c08ec18db9be08e001b6bc64a7cbde4');
