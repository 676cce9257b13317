CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	total_rho TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	spent_rho TEXT, 
	entries INTEGER NOT NULL, 
	sources TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,3,'town-2026','{"kind": "person", "column": "voter"}','added or removed','dp','3','1/100000',NULL,NULL,'7445805068304047801273845977179042083443/11909882842232846221218111260111887400960','1/1000000',NULL,NULL,3,'["votes, final count", "votes, first count"]','206b942731b0010f1e4e79a7566050d40604f2c54250567628bde023655a78e8');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	source TEXT, 
	question TEXT NOT NULL, 
	mechanism TEXT, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	rho TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:38+00:00','poll 0','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "epsilon": "3/10", "delta": "1/1000000"}','3/10','1/1000000',NULL,NULL,'"red"','8b2c3be109da398f6c713938e569b7e1565080d49b2df67cf3715238a62b5d3c');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:38+00:00',NULL,'votes, first count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "epsilon": "1/7", "delta": "0"}','1/7','0',NULL,NULL,'"gr\u00fcn"','1d496bbeae397ef37fadea107e52e12defb9bb6e3bdd92f6cbd08161bb379aa5');
INSERT INTO "rainbow_entries" VALUES(3,'2026-11-17T12:35:39+00:00','poll 2','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "ratio": "6/5", "delta": "0"}','62040810886557189074043987485332423025/340282366920938463463374607431768211456','0',NULL,NULL,NULL,'1f31d7240d2a038f12bd7a101427e8c4fb9f4dde212fc336a99eaedd5b6e67ac');
